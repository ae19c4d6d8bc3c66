import type { Command } from './parameters.ts';

/** One line of `rtc --help`, and the loader of its commands. */
export type CommandGroup = {
  readonly noun: string;
  readonly section: HelpSection;
  readonly summary: string;
  /** Verbs, without the empty one of a noun that is a command itself. */
  readonly verbs: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>;
};

/** Sections in the order of `rtc --help`. */
export type HelpSection = 'Rooms' | 'Service' | 'Italian fiscal codes, offline' | 'Settings and help';

import type { Command } from './command.ts';

/** One line of `rtc --help`, and where its commands are. */
export type CommandGroup = {
  readonly noun: string;
  readonly section: HelpSection;
  readonly summary: string;
  /** Without the empty verb of a noun that is a command itself. */
  readonly verbs: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>;
};

/** In the order of `rtc --help`. */
export type HelpSection = 'Rooms' | 'Service' | 'Italian fiscal codes, offline' | 'Settings and help';

import type { Command } from './command.ts';

/** One line of `rtc --help`, and where its commands are. */
export type NounEntry = {
  readonly noun: string;
  readonly group: Group;
  readonly summary: string;
  /** Empty for a noun that is a command itself. */
  readonly verbs: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>;
};

export type Group = 'Rooms' | 'Service' | 'Settings and help';

export const GROUPS: readonly Group[] = ['Rooms', 'Service', 'Settings and help'];

/** Every noun. Read by the root help, completion and did-you-mean; loads nothing until a noun is used. */
export const CATALOGUE: readonly NounEntry[] = [
  {
    noun: 'rooms',
    group: 'Rooms',
    summary: 'Create, list and close rooms',
    verbs: ['create', 'list', 'get', 'delete'],
    load: () => import('./commands/rooms.ts'),
  },
];

export function findNoun(noun: string): NounEntry | undefined {
  return CATALOGUE.find((entry) => entry.noun === noun);
}

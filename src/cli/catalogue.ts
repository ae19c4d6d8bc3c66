import type { Command } from './command.ts';

/** One line of `rtc --help`, and where its commands are. */
export type NounEntry = {
  readonly noun: string;
  readonly group: Group;
  readonly summary: string;
  /** Without the empty verb of a noun that is a command itself. */
  readonly verbs: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>;
};

export type Group = 'Rooms' | 'Service' | 'Italian fiscal codes, offline' | 'Settings and help';

export const GROUPS: readonly Group[] = [
  'Rooms',
  'Service',
  'Italian fiscal codes, offline',
  'Settings and help',
];

/** Every noun. Read by the root help, completion and did-you-mean; loads nothing until a noun is used. */
export const CATALOGUE: readonly NounEntry[] = [
  {
    noun: 'rooms',
    group: 'Rooms',
    summary: 'Rooms that are open now',
    verbs: ['create', 'list', 'get', 'delete'],
    load: () => import('./commands/rooms.ts'),
  },
  {
    noun: 'participants',
    group: 'Rooms',
    summary: 'Who is in a room',
    verbs: ['list', 'remove', 'mute'],
    load: () => import('./commands/participants.ts'),
  },
  {
    noun: 'tokens',
    group: 'Rooms',
    summary: 'Access tokens, which let people in',
    verbs: ['create', 'inspect'],
    load: () => import('./commands/tokens.ts'),
  },
  {
    noun: 'recordings',
    group: 'Rooms',
    summary: 'Recordings of rooms',
    verbs: ['start', 'stop', 'status', 'list', 'get', 'download', 'delete'],
    load: () => import('./commands/recordings.ts'),
  },
  {
    noun: 'transcription',
    group: 'Rooms',
    summary: 'What is said in a room, while it is said',
    verbs: ['start', 'stop', 'get', 'follow', 'speakers'],
    load: () => import('./commands/transcription.ts'),
  },
  {
    noun: 'transcriptions',
    group: 'Rooms',
    summary: 'What was said in recordings',
    verbs: ['create', 'list', 'get', 'delete'],
    load: () => import('./commands/transcriptions.ts'),
  },
  {
    noun: 'ingress',
    group: 'Rooms',
    summary: 'Streams that come in over RTMP or WHIP',
    verbs: ['create', 'list', 'delete'],
    load: () => import('./commands/ingress.ts'),
  },
  {
    noun: 'webhooks',
    group: 'Rooms',
    summary: 'URLs that get events, and their delivery logs',
    verbs: [
      'create',
      'list',
      'get',
      'update',
      'delete',
      'test',
      'deliveries',
      'replay',
      'rotate',
      'verify',
      'listen',
    ],
    load: () => import('./commands/webhooks.ts'),
  },
  {
    noun: 'events',
    group: 'Rooms',
    summary: 'What happens in rooms',
    verbs: ['list', 'tail'],
    load: () => import('./commands/events.ts'),
  },
  {
    noun: 'dev',
    group: 'Service',
    summary: 'Bring up everything for development',
    verbs: ['join', 'leave'],
    load: () => import('./commands/dev.ts'),
  },
  {
    noun: 'serve',
    group: 'Service',
    summary: 'Run the service',
    verbs: [],
    load: () => import('./commands/serve.ts'),
  },
  {
    noun: 'worker',
    group: 'Service',
    summary: 'Run a worker of a transcription add-on',
    verbs: [],
    load: () => import('./commands/worker.ts'),
  },
  {
    noun: 'stt',
    group: 'Service',
    summary: 'Speech models of the workers on this machine',
    verbs: ['models', 'install'],
    load: () => import('./commands/stt.ts'),
  },
  {
    noun: 'doctor',
    group: 'Service',
    summary: 'Check the whole chain, and say what to do about each fault',
    verbs: [],
    load: () => import('./commands/doctor.ts'),
  },
  {
    noun: 'api',
    group: 'Service',
    summary: 'Send any request, signed',
    verbs: [],
    load: () => import('./commands/api.ts'),
  },
  {
    noun: 'cf',
    group: 'Italian fiscal codes, offline',
    summary: 'Make, read and check fiscal codes, also a million at a time',
    verbs: ['generate', 'decode', 'check', 'omocodie'],
    load: () => import('./commands/cf.ts'),
  },
  {
    noun: 'it',
    group: 'Italian fiscal codes, offline',
    summary: 'Regions, provinces, places and postal codes',
    verbs: ['regions', 'provinces', 'cities', 'caps'],
    load: () => import('./commands/it.ts'),
  },
  {
    noun: 'profile',
    group: 'Settings and help',
    summary: 'Services and their keys, by name',
    verbs: ['add', 'list', 'use', 'show', 'remove'],
    load: () => import('./commands/profile.ts'),
  },
  {
    noun: 'completion',
    group: 'Settings and help',
    summary: 'Tab completion for bash, zsh, fish and PowerShell',
    verbs: [],
    load: () => import('./commands/completion.ts'),
  },
  {
    noun: 'version',
    group: 'Settings and help',
    summary: 'Version of rtc',
    verbs: [],
    load: () => import('./commands/version.ts'),
  },
  {
    noun: 'help',
    group: 'Settings and help',
    summary: 'Help of a command, or exit-codes, environment, output',
    verbs: [],
    load: () => import('./commands/help.ts'),
  },
];

export function findNoun(noun: string): NounEntry | undefined {
  return CATALOGUE.find((entry) => entry.noun === noun);
}

import type { CommandGroup } from './framework/parameters.ts';

type Noun = Omit<CommandGroup, 'section' | 'verbs'> & Partial<Pick<CommandGroup, 'verbs'>>;

/** The nouns by the sections of `rtc help all`, in this order. */
const NOUNS: Readonly<Record<string, readonly Noun[]>> = {
  Rooms: [
    {
      noun: 'rooms',
      summary: 'Open rooms',
      verbs: [
        'create',
        'list',
        'get',
        'update',
        'send',
        'mute',
        'open',
        'join',
        'waiting',
        'admit',
        'deny',
        'closed',
        'delete',
      ],
      load: () => import('./commands/rooms/commands.ts'),
    },
    {
      noun: 'participants',
      summary: 'People in a room',
      verbs: ['list', 'update', 'remove', 'forget', 'mute', 'unmute'],
      load: () => import('./commands/participants/commands.ts'),
    },
    {
      noun: 'plans',
      summary: 'What happens by itself in rooms of a name or prefix',
      verbs: ['set', 'list', 'get', 'delete'],
      load: () => import('./commands/plans/commands.ts'),
    },
    {
      noun: 'blocks',
      summary: 'People who are kept out of a room',
      verbs: ['list', 'remove'],
      load: () => import('./commands/blocks/commands.ts'),
    },
    {
      noun: 'tokens',
      summary: 'Access tokens, with which people join a room',
      verbs: ['create', 'inspect'],
      load: () => import('./commands/tokens/commands.ts'),
    },
    {
      noun: 'recordings',
      summary: 'Recordings of rooms',
      verbs: ['start', 'stop', 'status', 'list', 'get', 'download', 'delete'],
      load: () => import('./commands/recordings/commands.ts'),
    },
    {
      noun: 'broadcast',
      summary: 'Broadcasts of rooms to RTMP and SRT servers, and as HLS',
      verbs: ['start', 'stop', 'status', 'update', 'list', 'delete'],
      load: () => import('./commands/broadcast.ts'),
    },
    {
      noun: 'sessions',
      summary: 'Sessions of rooms: when they were open, and who was there',
      verbs: ['list', 'get', 'participants'],
      load: () => import('./commands/sessions/commands.ts'),
    },
    {
      noun: 'usage',
      summary: 'Minutes and bytes by day, month, room, prefix or key',
      load: () => import('./commands/usage.ts'),
    },
    {
      noun: 'transcription',
      summary: 'Live transcription of a room',
      verbs: ['start', 'stop', 'get', 'list', 'follow', 'speakers'],
      load: () => import('./commands/transcription/commands.ts'),
    },
    {
      noun: 'transcriptions',
      summary: 'Transcripts of recordings, and search in all transcripts',
      verbs: ['create', 'list', 'get', 'search', 'delete'],
      load: () => import('./commands/transcriptions/commands.ts'),
    },
    {
      noun: 'vocabulary',
      summary: 'Names and terms that a room’s transcription should know',
      verbs: ['get', 'set', 'delete'],
      load: () => import('./commands/vocabulary/commands.ts'),
    },
    {
      noun: 'ingress',
      summary: 'Streams into a room, by RTMP or WHIP',
      verbs: ['create', 'list', 'delete'],
      load: () => import('./commands/ingress.ts'),
    },
    {
      noun: 'webhooks',
      summary: 'URLs that receive events, and their delivery logs',
      verbs: [
        'create',
        'list',
        'get',
        'update',
        'pause',
        'resume',
        'delete',
        'test',
        'deliveries',
        'stats',
        'replay',
        'rotate',
        'verify',
        'listen',
        'trigger',
      ],
      load: () => import('./commands/webhooks/commands.ts'),
    },
    {
      noun: 'events',
      summary: 'Events of rooms, stored and live',
      verbs: ['list', 'tail'],
      load: () => import('./commands/events/commands.ts'),
    },
    {
      noun: 'wait',
      summary: 'Wait for people, a file, a transcript or a delivery',
      verbs: ['room', 'recording', 'transcription', 'delivery'],
      load: () => import('./commands/wait/commands.ts'),
    },
    {
      noun: 'top',
      summary: 'Watch rooms, people and deliveries, and act on them',
      load: () => import('./commands/top/commands.ts'),
    },
    {
      noun: 'explain',
      summary: 'Explain what happened to a room, recording or delivery',
      load: () => import('./commands/explain.ts'),
    },
  ],
  Service: [
    {
      noun: 'keys',
      summary: 'API keys with limited scopes',
      verbs: ['create', 'list', 'get', 'revoke'],
      load: () => import('./commands/keys/commands.ts'),
    },
    {
      noun: 'audit',
      summary: 'The log of who changed what',
      verbs: ['list'],
      load: () => import('./commands/audit.ts'),
    },
    {
      noun: 'dev',
      summary: 'Start everything for development',
      verbs: ['join', 'leave'],
      load: () => import('./commands/dev/commands.ts'),
    },
    {
      noun: 'serve',
      summary: 'Run the service',
      load: () => import('./commands/serve.ts'),
    },
    {
      noun: 'worker',
      summary: 'Run a worker of a transcription add-on',
      load: () => import('./commands/worker.ts'),
    },
    {
      noun: 'stt',
      summary: 'Speech models of the workers on this machine',
      verbs: ['models', 'get', 'install'],
      load: () => import('./commands/stt/commands.ts'),
    },
    {
      noun: 'admin',
      summary: 'Back up, restore and move the database, and more',
      verbs: ['backup', 'restore', 'migrate', 'confirm-clock', 'reencrypt'],
      load: () => import('./commands/admin.ts'),
    },
    {
      noun: 'doctor',
      summary: 'Check the whole set-up, and say how to mend each fault',
      load: () => import('./commands/doctor/commands.ts'),
    },
    {
      noun: 'console',
      summary: 'Operate everything in the browser',
      load: () => import('./commands/console/commands.ts'),
    },
    {
      noun: 'api',
      summary: 'Send any signed request',
      load: () => import('./commands/api.ts'),
    },
  ],
  'Italian fiscal codes, offline': [
    {
      noun: 'cf',
      summary: 'Generate, decode and check fiscal codes, one or a million',
      verbs: ['generate', 'decode', 'check', 'match', 'omocodie'],
      load: () => import('./commands/cf/commands.ts'),
    },
    {
      noun: 'it',
      summary: 'Regions, provinces, places and postal codes',
      verbs: ['regions', 'provinces', 'cities', 'find', 'caps'],
      load: () => import('./commands/it/commands.ts'),
    },
  ],
  'Settings and help': [
    {
      noun: 'profile',
      summary: 'Saved services with their keys',
      verbs: ['add', 'list', 'use', 'show', 'remove'],
      load: () => import('./commands/profile/commands.ts'),
    },
    {
      noun: 'completion',
      summary: 'Tab completion for bash, zsh, fish and PowerShell',
      load: () => import('./commands/completion.ts'),
    },
    {
      noun: 'version',
      summary: 'Version of rtc',
      load: () => import('./commands/version.ts'),
    },
    {
      noun: 'help',
      summary: 'Help for a command, or on exit-codes, environment, output',
      load: () => import('./commands/help.ts'),
    },
  ],
};

/** Every noun. Root help, completion and suggestions read this list; it loads nothing until a noun is used. */
export const REGISTRY: readonly CommandGroup[] = Object.entries(NOUNS).flatMap(([section, nouns]) =>
  nouns.map((noun) => ({ section, verbs: [], ...noun })),
);

export function findGroup(noun: string): CommandGroup | undefined {
  return REGISTRY.find((group) => group.noun === noun);
}

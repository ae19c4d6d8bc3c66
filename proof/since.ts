import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Every experiment that runs the service runs these. */
const SERVICE = ['app', 'main.ts', 'schema', 'platform', 'access'].map((name) => `src/server/${name}`);
const MEDIA = ['src/server/media-events', 'src/server/rooms', 'src/server/sessions'];
const WEBHOOKS = ['src/server/events', 'src/server/webhooks', 'src/contract'];
const SPEECH = [
  'src/server/transcription',
  'src/server/worker.ts',
  'src/server/stt.ts',
  'src/server/room-audio.ts',
];
const ALL = ['src/server', 'src/contract'];

/** The files and folders that each experiment attacks, beside what it imports. */
export const ATTACKED: Readonly<Record<string, readonly string[]>> = {
  'chaos-sqlite': [...SERVICE, ...WEBHOOKS],
  'chaos-postgres': [...SERVICE, ...WEBHOOKS],
  'rolling-restart': ALL,
  'mixed-versions': ALL,
  clocks: [...SERVICE, ...WEBHOOKS, ...MEDIA, 'src/server/plans'],
  'mutated-requests': ['src/server/app', 'src/server/platform/http', 'src/server/access', 'src/contract'],
  'document-cases-sqlite': ALL,
  'document-cases-postgres': ALL,
  'hostile-connections': ['src/server/app', 'src/server/platform/http', 'src/server/main.ts'],
  'forbidden-addresses': ['src/server/webhooks/sender'],
  'hostile-servers': ['src/cli', 'src/client', 'src/contract'],
  'hostile-receivers': [...SERVICE, ...WEBHOOKS],
  'hostile-media': [...SERVICE, ...SPEECH, 'src/server/recordings'],
  'hostile-files': ['src/cli', 'src/contract', 'src/server/app/backup', 'src/server/transcription/models'],
  'hostile-keys-sqlite': ALL,
  'hostile-keys-postgres': ALL,
  'hostile-people-sqlite': ALL,
  'hostile-people-postgres': ALL,
  pages: [
    'src/web',
    'src/cli/pages',
    'src/cli/commands/console',
    'src/cli/commands/rooms/page',
    'src/server/platform',
  ],
  'forged-tokens': ['src/server/platform/livekit', 'src/server/rooms', 'src/server/plans'],
  'steady-load': ALL,
  long: ALL,
  speed: [...SERVICE, ...WEBHOOKS, 'src/server/rooms'],
  'big-data-sqlite': ALL,
  'big-data-postgres': ALL,
  'stored-speech-sqlite': [...SERVICE, ...SPEECH],
  'stored-speech-postgres': [...SERVICE, ...SPEECH],
  'planned-ends-sqlite': [...SERVICE, ...WEBHOOKS, ...MEDIA, 'src/server/plans'],
  'planned-ends-postgres': [...SERVICE, ...WEBHOOKS, ...MEDIA, 'src/server/plans'],
  'media-faults': [...SERVICE, ...MEDIA, 'src/server/plans'],
  'slow-livekit': [...SERVICE, ...MEDIA, 'src/server/plans'],
  'livekit-nodes': [...SERVICE, ...WEBHOOKS, ...MEDIA],
  'sqlite-faults': [...SERVICE, ...WEBHOOKS],
  'postgres-faults': [...SERVICE, ...WEBHOOKS],
  'bucket-faults': [...SERVICE, 'src/server/recordings'],
  'recorder-kills': [...SERVICE, 'src/server/recordings', 'src/server/media-events'],
  'plan-kills-sqlite': [
    ...SERVICE,
    ...MEDIA,
    'src/server/plans',
    'src/server/recordings',
    'src/server/transcription',
  ],
  'plan-kills-postgres': [
    ...SERVICE,
    ...MEDIA,
    'src/server/plans',
    'src/server/recordings',
    'src/server/transcription',
  ],
  'ingress-kills': [...SERVICE, ...MEDIA],
  'speech-kills': [...SERVICE, ...SPEECH],
  'live-speech-kills': [...SERVICE, ...SPEECH],
  model: [
    'src/server/webhooks',
    'src/server/recordings',
    'src/server/media-events',
    'src/server/platform/jobs',
  ],
  mutation: ['src/contract', 'src/fiscal', 'src/server/recordings', 'src/server/webhooks/dispatcher'],
};

/** Dependencies may change everything. */
const EVERYONE_USES = ['package-lock.json'];

/** Why an experiment may give another result since a commit. */
export type Reason = { readonly name: string; readonly file: string; readonly because: string };

/** Returns the experiments that the change of these files can have touched, each with the first file that says why. */
export function explainChoice(changed: readonly string[], names: readonly string[]): readonly Reason[] {
  const files = findFiles();
  return names.flatMap((name) => {
    const imported = listImports(files.get(name) ?? '');
    const attacked = ATTACKED[name] ?? [];
    for (const file of changed) {
      const folder = attacked.find((path) => file === path || file.startsWith(`${path}/`));
      if (folder !== undefined) return [{ name, file, because: `it attacks ${folder}` }];
      if (imported.has(file)) return [{ name, file, because: 'it imports this file' }];
      if (EVERYONE_USES.includes(file)) return [{ name, file, because: 'everything depends on it' }];
    }
    return [];
  });
}

/** Lists the files that differ from those of the commit, also before they are committed. */
export function listChanged(commit: string): readonly string[] {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  const added = git('ls-files', '--others', '--exclude-standard');
  return [...git('diff', '--name-only', '--no-renames', `${commit}^{commit}`, '--'), ...added];
}

/** Finds the file of each experiment: the one that experiments.ts imports and that has its name in it. */
function findFiles(): ReadonlyMap<string, string> {
  const list = 'proof/experiments.ts';
  const paths = readImports(list);
  return new Map(
    Object.keys(ATTACKED).flatMap((name) => {
      const stem = name.replace(/-(sqlite|postgres)$/, '');
      const quoted = [`'${name}'`, `'${stem}'`];
      const path = paths.find((one) => quoted.some((text) => readText(one).includes(text)));
      return path === undefined ? [] : [[name, path] as const];
    }),
  );
}

/** Returns a file with everything that it imports from proof and test, and what these import from src. */
export function listImports(path: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (file === '' || found.has(file)) return;
    found.add(file);
    // The service imports nearly all of itself. What is attacked of it is named above.
    if (!file.startsWith('src/')) for (const one of readImports(file)) visit(one);
  };
  visit(path);
  return found;
}

/** Also programs that run in another process or thread. */
const IMPORT = /(?:from|import|import\(|new URL\()\s*'([^']+)'/g;

function readImports(path: string): readonly string[] {
  const folder = dirname(join(ROOT, path));
  const named = [...readText(path).matchAll(IMPORT)].map(([, one = '']) => join(folder, one));
  return named.filter((file) => /\.\w+$/.test(file) && existsSync(file)).map((file) => relative(ROOT, file));
}

function readText(path: string): string {
  return path === '' ? '' : readFileSync(join(ROOT, path), 'utf8');
}

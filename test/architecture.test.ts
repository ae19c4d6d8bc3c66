import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles, parseModule, readSourceModules, type SourceModule } from './support/source-modules.ts';

/*
 * The house as tables: who may import whom, which package belongs to which room, and what only few may do. Static,
 * dynamic and type imports count alike. Change a table only in a commit that says why.
 */

const CLI_BELOW_FRAMEWORK = ['src/cli/connection/', 'src/cli/terminal/', 'src/cli/errors/'];

/** A noun of the command line imports no other noun, but for these. */
const CLI_NOUN_ARROWS: Readonly<Record<string, readonly string[]>> = {
  // `rtc dev` listens where `rtc serve` would, and `rtc dev leave` names the participants that are there.
  'src/cli/commands/dev/': ['src/cli/commands/serve.ts', 'src/cli/commands/participants/'],
  // Live transcripts and those of recordings are shown alike.
  'src/cli/commands/transcriptions/': ['src/cli/commands/transcription/'],
  // `rtc webhooks listen` forwards as `rtc events tail --forward-to` does.
  'src/cli/commands/webhooks/': ['src/cli/commands/events/'],
};

/** A room and the rooms that it may import, besides itself. The first one whose path begins a file's is its room. */
const ARROWS: readonly (readonly [room: string, mayImport: readonly string[]])[] = [
  // The launcher loads what is built, so that the published package and the checkout start alike.
  [
    'bin/',
    [
      'dist/cli/main.js',
      'dist/server/main.js',
      'dist/server/dev.js',
      'dist/server/worker.js',
      'dist/server/stt.js',
    ],
  ],
  ['src/fiscal/', []],
  // What the command line and the service both do to folders.
  ['src/folders/', []],
  ['src/contract/', []],
  ['src/client/', ['src/contract/']],
  ['src/cli/errors/', ['src/client/', 'src/contract/']],
  ['src/cli/terminal/', ['src/cli/errors/', 'src/contract/']],
  [
    'src/cli/connection/',
    ['src/cli/terminal/', 'src/cli/errors/', 'src/client/', 'src/contract/', 'src/folders/'],
  ],
  // The context of a command opens its connection.
  ['src/cli/framework/', [...CLI_BELOW_FRAMEWORK, 'src/client/', 'src/contract/']],
  ...nounPaths().map((path): readonly [string, readonly string[]] => [
    path,
    [
      'src/cli/framework/',
      ...CLI_BELOW_FRAMEWORK,
      ...(CLI_NOUN_ARROWS[path] ?? []),
      'src/client/',
      'src/contract/',
      'src/fiscal/index.ts',
    ],
  ]),
  // The composition of the command line: main and the registry of nouns.
  ['src/cli/', ['src/cli/', 'src/contract/']],
  ['src/server/ports/', ['src/contract/']],
  ['src/server/domain/', ['src/server/ports/', 'src/contract/']],
  ['src/server/workers/', ['src/server/domain/', 'src/server/ports/', 'src/contract/']],
  ['src/server/http/', ['src/server/domain/', 'src/server/ports/', 'src/contract/', 'src/fiscal/index.ts']],
  ['src/server/config/', []],
  // One room each: an adapter never imports another.
  ...adapterNames().map((name): readonly [string, readonly string[]] => [
    `src/server/adapters/${name}/`,
    ['src/server/ports/', 'src/contract/', 'src/folders/'],
  ]),
  // Development is a second composition root: it puts a media server and a database in front of the first.
  [
    'src/server/dev/',
    ['src/server/config/', 'src/server/adapters/', 'src/server/ports/', 'src/contract/', 'src/folders/'],
  ],
  // The composition root: main, service, routes, app, dev.
  ['src/server/', ['src/server/', 'src/contract/', 'src/fiscal/index.ts']],
];

/** Where each package may be imported; one without a line here may not be imported at all. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/protobuf': ['src/server/adapters/'],
  '@fastify/cors': ['src/server/app.ts'],
  '@fastify/rate-limit': ['src/server/app.ts'],
  '@inquirer/prompts': ['src/cli/'],
  '@livekit/protocol': ['src/server/adapters/'],
  // The live transcriber joins rooms to hear them.
  '@livekit/rtc-node': ['src/server/adapters/livekit/'],
  '@redis/client': ['src/server/adapters/media-redis/'],
  aws4fetch: ['src/server/adapters/'],
  chalk: ['src/cli/'],
  'cli-table3': ['src/cli/'],
  commander: ['src/cli/'],
  'csv-parse': ['src/cli/'],
  fastify: ['src/server/app.ts', 'src/server/close-requests.ts', 'src/server/http/'],
  'ipaddr.js': ['src/server/adapters/', 'src/server/config/'],
  kysely: ['src/server/adapters/storage/'],
  'livekit-server-sdk': ['src/server/adapters/livekit/', 'src/server/adapters/embedded-media/'],
  pg: ['src/server/adapters/storage/'],
  pino: ['src/server/adapters/system/'],
  'prom-client': ['src/server/adapters/system/'],
  typebox: ['src/contract/', 'src/server/http/'],
  // The client takes the type of a dispatcher only: it runs without undici.
  undici: ['src/client/dispatcher-exchange.ts', 'src/cli/', 'src/server/adapters/'],
};

/** Rooms that may import of Node itself only what is listed; the others are free. */
const NODE_MODULES: Readonly<Record<string, readonly string[]>> = {
  'src/fiscal/': [],
  // It runs in Bun, Deno and edge workers too.
  'src/client/': [],
  'src/server/ports/': [],
  // Domain and contract compute; hashes are no input or output.
  'src/server/domain/': ['node:crypto'],
  'src/contract/': ['node:crypto'],
};

/** Parts of Node that reach outside, and where they may. */
const NODE_REACH: Readonly<Record<string, readonly string[]>> = {
  'node:sqlite': ['src/server/adapters/storage/'],
  // The adapters build or unpack what they run beside us: the media server, the speech model.
  'node:child_process': [
    'bin/',
    'src/cli/',
    'src/server/dev/',
    'src/server/adapters/ffmpeg/',
    'src/server/adapters/media-binary/',
    'src/server/adapters/speech/',
  ],
  'node:worker_threads': ['src/server/adapters/'],
  'node:dns': ['src/server/adapters/'],
  'node:dns/promises': ['src/server/adapters/'],
};

/** Members of `process` that few may touch, and why they may. */
const PROCESS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  exit: ['bin/rtc.js'],
  exitCode: ['bin/rtc.js'],
  // A child inherits the environment: the two media-binary files hand it on without reading a setting from it.
  env: [
    'bin/rtc.js',
    'src/server/main.ts',
    'src/server/dev.ts',
    'src/server/worker.ts',
    'src/server/stt.ts',
    // ffmpeg, which reads files of strangers, gets only what it needs of it.
    'src/server/adapters/ffmpeg/decode-audio.ts',
    // pip and npm find their own settings in it.
    'src/server/adapters/speech/install-package.ts',
    'src/server/adapters/media-binary/child-process.ts',
    'src/server/adapters/media-binary/go-binary.ts',
  ],
  argv: ['bin/rtc.js'],
  '(computed)': [],
};

/** Modules that act on import, and what they do there; the launcher is there to act. */
const ACTING_ON_IMPORT = [
  'bin/rtc.js',
  // A loop that fills a table of the module's own: that is to define it.
  'src/fiscal/characters.ts',
  'src/fiscal/place-records.ts',
];

/** The only doors; elsewhere a file is called by its subject. */
const INDEX_FILES = ['src/client/index.ts', 'src/contract/index.ts', 'src/fiscal/index.ts'];

const MAX_LINES = 300;

const root = join(import.meta.dirname, '..');
const modules = readSourceModules(root, ['bin', 'src']);

function adapterNames(): readonly string[] {
  return readdirSync(join(import.meta.dirname, '../src/server/adapters'));
}

/** Each noun's file or folder. */
function nounPaths(): readonly string[] {
  const folder = 'src/cli/commands';
  const entries = readdirSync(join(import.meta.dirname, '..', folder), { withFileTypes: true });
  return entries.map((entry) => `${folder}/${entry.name}${entry.isDirectory() ? '/' : ''}`);
}

function roomOf(path: string): readonly [room: string, mayImport: readonly string[]] | undefined {
  return ARROWS.find(([room]) => path.startsWith(room));
}

function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));
}

/** The house's own files are named by path, packages are not. */
function isFile(imported: string): boolean {
  return /^(bin|data|dist|scripts|src|test)\//.test(imported);
}

function forbiddenArrows({ path, imports }: SourceModule): readonly string[] {
  const found = roomOf(path);
  if (found === undefined) return [`${path} is in no room of the house`];
  const [room, mayImport] = found;
  return imports
    .filter((imported) => isFile(imported) && !isWithin(imported, [room, ...mayImport]))
    .map((imported) => `${path} -> ${imported}`);
}

/** package.json may be read for the version; nothing else outside the house is a file. */
function forbiddenPackages({ path, imports }: SourceModule): readonly string[] {
  return imports
    .filter((imported) => !isFile(imported) && imported !== 'package.json')
    .filter((imported) => {
      if (!imported.startsWith('node:')) return !isWithin(path, PACKAGES[imported] ?? []);
      const room = roomOf(path)?.[0] ?? '';
      const isFree = NODE_MODULES[room]?.includes(imported) ?? true;
      const isReached = NODE_REACH[imported] === undefined || isWithin(path, NODE_REACH[imported]);
      return !(isFree && isReached);
    })
    .map((imported) => `${path} -> ${imported}`);
}

function forbiddenProcessMembers({ path, processMembers }: SourceModule): readonly string[] {
  return [...processMembers]
    .filter((member) => PROCESS_MEMBERS[member] !== undefined && !isWithin(path, PROCESS_MEMBERS[member]))
    .map((member) => `${path}: process.${member}`);
}

describe('the house', () => {
  it('has its rooms', () => {
    const rooms = new Set(modules.map(({ path }) => roomOf(path)?.[0]));
    for (const room of ['bin/', 'src/contract/', 'src/server/domain/', 'src/server/http/', 'src/server/']) {
      expect(rooms).toContain(room);
    }
    expect(modules.length).toBeGreaterThan(100);
  });

  it('imports along the arrows only', () => {
    expect(modules.flatMap(forbiddenArrows)).toEqual([]);
  });

  it('imports each package where it belongs only', () => {
    expect(modules.flatMap(forbiddenPackages)).toEqual([]);
  });

  it('imports nothing that is not written down', () => {
    expect(modules.filter((module) => module.hasUnknownImports).map(({ path }) => path)).toEqual([]);
  });

  it('has no cycles', () => {
    expect(importCycles(modules).map((cycle) => cycle.join(' -> '))).toEqual([]);
  });

  it('ends the process and reads the environment at its edge only', () => {
    expect(modules.flatMap(forbiddenProcessMembers)).toEqual([]);
  });

  it('does nothing on import but define things', () => {
    const acting = modules.filter(({ actsOnImport }) => actsOnImport).map(({ path }) => path);
    expect(acting.filter((path) => !ACTING_ON_IMPORT.includes(path))).toEqual([]);
  });

  it('has no default exports', () => {
    expect(modules.filter((module) => module.hasDefaultExport).map(({ path }) => path)).toEqual([]);
  });

  it('has an index.ts at the three published doors only', () => {
    const indexes = modules.map(({ path }) => path).filter((path) => /(^|\/)index\.[jt]s$/.test(path));
    expect(indexes.filter((path) => !INDEX_FILES.includes(path))).toEqual([]);
  });

  it('has no folder for what has no name', () => {
    const paths = readSourceModules(root, ['bin', 'src', 'test', 'scripts', 'bench']).map(({ path }) => path);
    expect(paths.filter((path) => /(^|\/)(utils?|helpers?|common|misc|lib)\//.test(path))).toEqual([]);
  });

  it('has no file that is too long to read', () => {
    const long = modules.filter(({ path, lineCount }) => lineCount > MAX_LINES && !isGenerated(path));
    expect(long.map(({ path, lineCount }) => `${path}: ${lineCount} lines`)).toEqual([]);
  });
});

function isGenerated(path: string): boolean {
  return path.startsWith('src/fiscal/data/');
}

describe('the rules', () => {
  const parse = (source: string, path = 'src/server/domain/some.ts') => parseModule(path, source);

  it('see static, dynamic, type and re-exporting imports alike', () => {
    const { imports } = parse(`
      import '../http/a.ts';
      import type { B } from '../http/b.ts';
      import { type C } from '../http/c.ts';
      export * from '../http/d.ts';
      export type { E } from '../http/e.ts';
      const f = () => import('../http/f.ts');
      type G = typeof import('../http/g.ts');
      type H = import('../http/h.ts').H;
      const i = () => require('../http/i.ts');
      import { j } from '@scope/name/deep/path';
      import { k } from 'name/deep';
      import { DatabaseSync } from 'node:sqlite';
      // import '../http/comment.ts';
      const text = "import '../http/text.ts'";
    `);
    const files = [...'abcdefghi'].map((name) => `src/server/http/${name}.ts`);
    expect(imports).toEqual(['@scope/name', 'name', 'node:sqlite', ...files]);
  });

  it.each([
    ['src/server/domain/some.ts', '../http/route.ts'],
    ['src/server/http/some.ts', '../adapters/storage/store.ts'],
    ['src/server/adapters/livekit/some.ts', '../storage/store.ts'],
    ['src/server/ports/some.ts', '../domain/find-room.ts'],
    ['src/cli/some.ts', '../server/main.ts'],
    ['src/cli/some.ts', '../fiscal/check.ts'],
    ['src/cli/errors/some.ts', '../terminal/table.ts'],
    ['src/cli/terminal/some.ts', '../framework/context.ts'],
    ['src/cli/framework/some.ts', '../commands/rooms.ts'],
    ['src/cli/commands/rooms.ts', './events/commands.ts'],
    ['src/cli/commands/events/some.ts', '../webhooks/commands.ts'],
    ['src/client/some.ts', '../cli/main.ts'],
    ['src/contract/some.ts', '../client/index.ts'],
    ['src/fiscal/some.ts', '../contract/index.ts'],
    ['src/stray/some.ts', '../contract/index.ts'],
  ])('forbid an arrow from %s to %s', (path, request) => {
    expect(forbiddenArrows(parse(`const load = () => import('${request}');`, path))).toHaveLength(1);
  });

  it.each([
    ['src/fiscal/some.ts', 'node:fs'],
    ['src/server/domain/some.ts', 'node:sqlite'],
    ['src/server/domain/some.ts', 'fastify'],
    ['src/server/http/some.ts', 'node:sqlite'],
    ['src/server/http/some.ts', 'livekit-server-sdk'],
    ['src/server/adapters/livekit/some.ts', 'pg'],
    ['src/cli/some.ts', 'not-a-dependency'],
  ])('forbid %s the package %s', (path, name) => {
    expect(forbiddenPackages(parse(`import '${name}';`, path))).toHaveLength(1);
  });

  it.each([
    'process.exit(1);',
    'process["exit"](1);',
    'const { exit } = process;',
    "import { exit } from 'node:process';",
    'const load = () => process[name];',
    'globalThis.process.exit(1);',
  ])('see the end of the process in %s', (source) => {
    expect(forbiddenProcessMembers(parse(source))).toHaveLength(1);
  });

  it('see a cycle, also one that only types close', () => {
    const cycle = [
      parse(`import { b } from './b.ts';`, 'src/a.ts'),
      parse(`import { c } from './c.ts';`, 'src/b.ts'),
      parse(`import type { A } from './a.ts';`, 'src/c.ts'),
    ];
    expect(importCycles(cycle)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts']]);
  });

  it('take no lazy import for a cycle: it is how one is opened', () => {
    const lazy = [
      parse(`const b = () => import('./b.ts');`, 'src/a.ts'),
      parse(`import type { A } from './a.ts';`, 'src/b.ts'),
    ];
    expect(importCycles(lazy)).toEqual([]);
  });

  it('see default exports, acting imports and imports by a computed name', () => {
    expect(parse('export default 1;').hasDefaultExport).toBe(true);
    expect(parse('const a = 1; export { a as default };').hasDefaultExport).toBe(true);
    expect(parse('export const a = 1;').hasDefaultExport).toBe(false);
    expect(parse('start();').actsOnImport).toBe(true);
    expect(parse('export const a = make();').actsOnImport).toBe(false);
    expect(parse('const load = () => import(name);').hasUnknownImports).toBe(true);
  });
});

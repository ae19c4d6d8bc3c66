import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles, parseModule, readSourceModules, type SourceModule } from './support/source-modules.ts';

/*
 * The rules of the architecture as tables: which folder may import which, where each package may be imported, and what only
 * a few files may do. Static, dynamic and type imports count alike. Change a table only in a commit that explains why.
 */

/** Code that commands share: the context of a command, and the pages that some of them serve. */
const CLI_FRAMEWORK = ['src/cli/framework/', 'src/cli/pages/'];
const CLI_BELOW_FRAMEWORK = ['src/cli/connection/', 'src/cli/terminal/', 'src/cli/errors/'];

/** A noun of the command line imports no other noun, except for these. */
const CLI_NOUN_ARROWS: Readonly<Record<string, readonly string[]>> = {
  // `rtc dev` listens at the same address as `rtc serve`, and `rtc dev leave` completes the names of participants.
  'src/cli/commands/dev/': [
    'src/cli/commands/serve.ts',
    'src/cli/commands/participants/',
    // `rtc dev` serves the page of a first room, as `rtc rooms open` does, and the console.
    'src/cli/commands/rooms/',
    'src/cli/commands/console/',
  ],
  // `rtc top` opens a room in the browser, as `rtc rooms open` does.
  'src/cli/commands/top/': ['src/cli/commands/rooms/'],
  // The console opens rooms, runs the checks of `rtc doctor`, and saves sessions like `rtc sessions list --csv`.
  'src/cli/commands/console/': [
    'src/cli/commands/rooms/',
    'src/cli/commands/doctor/',
    'src/cli/commands/sessions/',
  ],
  // Live transcripts and transcripts of recordings are printed in the same way.
  'src/cli/commands/transcriptions/': ['src/cli/commands/transcription/'],
  // `rtc wait` prints its result in the same way as the noun that it waits for.
  'src/cli/commands/wait/': [
    'src/cli/commands/recordings/',
    'src/cli/commands/transcription/',
    'src/cli/commands/webhooks/',
  ],
  // `rtc webhooks listen` forwards in the same way as `rtc events tail --forward-to`.
  'src/cli/commands/webhooks/': ['src/cli/commands/events/'],
};

/** The files that may import the row types of the tables: the implementations of stores, and the composition root. */
const ROW_TYPES = 'src/server/schema/tables.ts';
const ROW_TYPE_USERS = ['*.sql.ts', 'src/server/schema/', 'src/server/app/'];

/**
 * Folders, each with the folders that it may import besides itself. A file belongs to the first folder that its path begins
 * with.
 */
const ARROWS: readonly (readonly [folder: string, mayImport: readonly string[]])[] = [
  // The launcher loads the build, so that the published package and a checkout start in the same way.
  [
    'bin/',
    [
      'dist/cli/main.js',
      'dist/server/main.js',
      'dist/server/dev.js',
      'dist/server/worker.js',
      'dist/server/room-client.js',
      'dist/server/stt.js',
      'dist/server/admin.js',
    ],
  ],
  ['src/fiscal/', []],
  ['src/contract/', []],
  ['src/client/', ['src/contract/']],
  // What happened to a room, recording, delivery or request, for the command line and the console.
  ['src/explain/', ['src/client/', 'src/contract/']],
  // People as tables and JSON describe them, for the command line and its pages.
  ['src/people/', ['src/contract/', 'src/fiscal/index.ts']],
  // Pages for browsers, which the command line serves.
  ['src/web/', ['src/client/', 'src/contract/', 'src/explain/', 'src/people/', 'src/fiscal/index.ts']],
  ['src/cli/errors/', ['src/client/', 'src/contract/']],
  // Lists are written as CSV in the same way as tables of people.
  ['src/cli/terminal/', ['src/cli/errors/', 'src/contract/', 'src/people/csv-rows.ts']],
  ['src/cli/connection/', ['src/cli/terminal/', 'src/cli/errors/', 'src/client/', 'src/contract/']],
  // The context of a command opens the connection.
  ['src/cli/framework/', [...CLI_BELOW_FRAMEWORK, 'src/client/', 'src/contract/']],
  // Servers of browser pages on this machine, and the printing of their links.
  ['src/cli/pages/', ['src/cli/framework/', 'src/cli/terminal/', 'src/cli/errors/', 'src/contract/']],
  ...nounPaths().map((path): readonly [string, readonly string[]] => [
    path,
    [
      ...CLI_FRAMEWORK,
      ...CLI_BELOW_FRAMEWORK,
      ...(CLI_NOUN_ARROWS[path] ?? []),
      'src/client/',
      'src/contract/',
      'src/explain/',
      'src/people/',
      'src/fiscal/index.ts',
    ],
  ]),
  // The composition of the command line: main and the registry of nouns.
  // It opens the client for the command that it runs.
  ['src/cli/main.ts', ['src/cli/', 'src/client/']],
  ['src/cli/', ['src/cli/']],
  /*
   * The server by capability: media-events -> plans -> {rooms, transcription -> recordings} -> events -> webhooks -> platform.
   * Arrows are transitive. Other imports between capabilities are forbidden.
   */
  // Unknown settings get the nearest name as unknown commands do.
  ['src/server/app/config/', ['src/contract/']],
  ['src/server/platform/storage/', ['src/server/platform/', 'src/contract/']],
  // Loops, batches and leases are below the database, whose connections use them.
  ['src/server/platform/jobs/', ['src/server/platform/clock.ts', 'src/server/platform/log.ts']],
  // It knows no capability, not even its types.
  ['src/server/platform/', ['src/contract/']],
  // Row types are the records of the stores' interfaces, so that rows need no mapping. The interfaces contain no code.
  [
    'src/server/schema/',
    [
      'src/server/access/store.ts',
      'src/server/events/store.ts',
      'src/server/recordings/store.ts',
      'src/server/rooms/store.ts',
      'src/server/transcription/store.ts',
      'src/server/transcription/turns/store.ts',
      'src/server/webhooks/store.ts',
      'src/server/platform/storage/',
    ],
  ],
  // API keys, scopes, idempotency and the audit log.
  ['src/server/access/', ['src/server/platform/', 'src/contract/']],
  ['src/server/webhooks/', ['src/server/platform/', 'src/contract/']],
  // Amounts by day, which are written with the events that report them.
  ['src/server/usage/', ['src/server/platform/', 'src/contract/', 'src/people/csv-rows.ts']],
  [
    'src/server/events/',
    ['src/server/webhooks/', 'src/server/usage/', 'src/server/platform/', 'src/contract/'],
  ],
  ['src/server/rooms/', ['src/server/platform/', 'src/contract/']],
  [
    'src/server/recordings/',
    [
      'src/server/rooms/',
      'src/server/events/',
      'src/server/webhooks/',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  // Recognisers do not know where models come from.
  [
    'src/server/transcription/engines/',
    [
      'src/server/transcription/vocabulary/',
      'src/server/transcription/store.ts',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  [
    'src/server/transcription/',
    [
      'src/server/recordings/',
      'src/server/rooms/',
      'src/server/events/',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  // What plans do by themselves: media-events -> plans -> the capabilities that they start.
  [
    'src/server/plans/',
    [
      'src/server/rooms/',
      'src/server/recordings/',
      'src/server/transcription/',
      'src/server/events/',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  [
    'src/server/media-events/',
    [
      'src/server/plans/',
      'src/server/transcription/',
      'src/server/recordings/',
      'src/server/rooms/',
      'src/server/events/',
      'src/server/usage/',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  // The erasure of a person reaches the tables of all capabilities.
  [
    'src/server/erasure/',
    ['src/server/access/', 'src/server/rooms/', 'src/server/platform/', 'src/contract/'],
  ],
  // Sessions are computed from the data of other capabilities.
  [
    'src/server/sessions/',
    [
      'src/server/transcription/',
      'src/server/recordings/',
      'src/server/events/',
      'src/server/usage/',
      'src/server/platform/',
      'src/contract/',
    ],
  ],
  [
    'src/server/health/',
    ['src/server/transcription/', 'src/server/recordings/', 'src/server/platform/', 'src/contract/'],
  ],
  ['src/server/metrics/', ['src/server/platform/', 'src/contract/']],
  // Server and command line give the results of the library the same form.
  [
    'src/server/fiscal-api/',
    ['src/server/platform/', 'src/contract/', 'src/people/fiscal-responses.ts', 'src/fiscal/index.ts'],
  ],
  // A participant without a browser, for `rtc rooms join`.
  ['src/server/room-client/', ['src/server/platform/byte-reader.ts', 'src/contract/']],
  // The embedded media server imports nothing else of the service.
  ['src/server/media-simulator/', ['src/server/platform/storage/make-folder.ts']],
  // `rtc dev` starts a media server and a database for the service.
  [
    'src/server/dev/',
    ['src/server/app/', 'src/server/media-simulator/', 'src/server/platform/', 'src/contract/'],
  ],
  // The composition root and the entry points: main, worker, dev, stt.
  ['src/server/app/', ['src/server/', 'src/contract/']],
  ['src/server/', ['src/server/', 'src/contract/']],
];

/** Where each package may be imported. A package without a line may not be imported at all. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/protobuf': ['src/server/platform/livekit/', 'src/server/media-simulator/'],
  '@inquirer/prompts': ['src/cli/'],
  '@livekit/protocol': ['src/server/platform/livekit/', 'src/server/media-simulator/'],
  // The live transcriber joins rooms to receive audio, and `rtc rooms join` to publish it.
  '@livekit/rtc-node': [
    'src/server/platform/livekit/',
    'src/server/room-client/',
    'src/server/room-client.ts',
  ],
  '@orama/stemmers': ['src/server/platform/storage/'],
  '@redis/client': ['src/server/platform/livekit/'],
  aws4fetch: ['src/server/recordings/files/', 'src/server/media-simulator/'],
  // Loaded only if the settings have no keys of the bucket.
  '@aws-sdk/credential-provider-node': ['src/server/recordings/files/'],
  // Loaded only if tracing is configured.
  '@opentelemetry/api': ['src/server/platform/tracing/'],
  '@opentelemetry/context-async-hooks': ['src/server/platform/tracing/'],
  '@opentelemetry/core': ['src/server/platform/tracing/'],
  '@opentelemetry/exporter-trace-otlp-http': ['src/server/platform/tracing/'],
  '@opentelemetry/exporter-trace-otlp-proto': ['src/server/platform/tracing/'],
  '@opentelemetry/otlp-exporter-base': ['src/server/platform/tracing/'],
  '@opentelemetry/resources': ['src/server/platform/tracing/'],
  '@opentelemetry/sdk-trace': ['src/server/platform/tracing/'],
  '@tanstack/react-query': ['src/web/console/'],
  '@tanstack/react-table': ['src/web/console/'],
  '@tanstack/react-virtual': ['src/web/console/'],
  '@livekit/components-react': ['src/web/'],
  'ansi-escapes': ['src/cli/terminal/'],
  'cli-table3': ['src/cli/'],
  'string-width': ['src/cli/'],
  commander: ['src/cli/'],
  hucre: ['src/cli/commands/cf/files/'],
  fastify: ['src/server/app/', 'src/server/platform/http/'],
  'ipaddr.js': [
    'src/server/webhooks/sender/',
    'src/server/app/config/',
    // It shortens the addresses of callers for the audit log.
    'src/server/platform/http/limits/rate-limits.ts',
  ],
  // Outside of platform/storage and the schema, only the implementations of stores write queries.
  kysely: [
    'src/server/platform/storage/',
    'src/server/schema/',
    'src/server/app/create-store.ts',
    '*.sql.ts',
  ],
  'livekit-client': ['src/web/'],
  // The search of the pages at /docs.
  minisearch: ['src/web/reference/'],
  'lucide-react': ['src/web/'],
  'livekit-server-sdk': ['src/server/platform/livekit/', 'src/server/media-simulator/'],
  pg: ['src/server/platform/storage/postgres/'],
  pino: ['src/server/platform/pino-log.ts'],
  'prom-client': ['src/server/metrics/'],
  react: ['src/web/'],
  'react-dom': ['src/web/'],
  typebox: ['src/contract/', 'src/server/platform/http/', 'src/server/platform/openapi/', '*-routes.ts'],
  // QR codes on a terminal.
  uqr: ['src/cli/commands/rooms/', 'src/web/room/'],
  wouter: ['src/web/console/'],
  undici: ['src/cli/', 'src/server/webhooks/sender/', 'src/server/platform/livekit/clients.ts'],
};

/** Folders that may import only the listed modules of Node. Other folders are not restricted. */
const NODE_MODULES: Readonly<Record<string, readonly string[]>> = {
  'src/fiscal/': [],
  // The client also runs in Bun, Deno and edge workers.
  'src/client/': [],
  // The contract computes hashes and decompresses bodies, and has no input or output.
  'src/contract/': ['node:crypto', 'node:zlib'],
};

/** Modules of Node that reach outside the process, and where they are allowed. */
const NODE_REACH: Readonly<Record<string, readonly string[]>> = {
  'node:sqlite': ['src/server/platform/storage/sqlite/'],
  // `rtc dev` builds and runs the media server; transcription runs ffmpeg and unpacks models; `rtc rooms join` reads files
  // with ffmpeg.
  'node:child_process': [
    'bin/',
    'src/cli/',
    'src/server/dev/',
    'src/server/room-client/',
    // LiveKit's room client never frees the memory of a connection. It runs in processes that end.
    'src/server/platform/livekit/room-audio-subscriber.ts',
    'src/server/transcription/audio/',
    'src/server/transcription/engines/',
    'src/server/transcription/models/',
  ],
  'node:worker_threads': [],
  'node:dns': ['src/server/webhooks/sender/'],
  'node:dns/promises': [],
};

/** Members of `process` that only a few files may use, each with the reason. */
const PROCESS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  // The process that listens to rooms ends with its worker.
  exit: ['bin/rtc.js', 'src/server/room-audio.ts'],
  exitCode: ['bin/rtc.js'],
  // A child process inherits the environment. The two media-binary files pass it on without reading a setting from it.
  env: [
    'bin/rtc.js',
    'src/server/main.ts',
    'src/server/dev.ts',
    'src/server/worker.ts',
    'src/server/room-client.ts',
    'src/server/stt.ts',
    'src/server/admin.ts',
    // ffmpeg reads files of unknown origin. It gets only the variables that it needs.
    'src/server/transcription/audio/ffmpeg-audio.ts',
    // pip and npm find their own settings in the environment.
    'src/server/transcription/models/install-model.ts',
    'src/server/dev/binaries/child-process.ts',
    'src/server/dev/binaries/go-binary.ts',
  ],
  argv: ['bin/rtc.js'],
  '(computed)': [],
};

/** Methods that only a few files may call or pass on. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  // Deletes what is over. A clock that is ahead ends everything, so that events/purge.ts compares clocks before.
  purge: [
    'src/server/app/purges.ts',
    // Forgets rooms. One that is open is found again.
    'src/server/plans/keep-times.ts',
  ],
};

/** Modules with side effects on import, and which effects. The launcher is one by design. */
const MODULES_WITH_SIDE_EFFECTS = [
  'bin/rtc.js',
  // Entry points of pages, which render.
  'src/web/room/main.tsx',
  'src/web/console/main.tsx',
  // A worker's entry point, which receives messages.
  'src/web/console/fiscal/batch-worker.ts',
  // A live worker's child process, which also receives messages.
  'src/server/room-audio.ts',
  // The entry point of the API reference, which starts the viewer.
  'src/web/reference/start.ts',
  'src/web/reference/site.ts',
  'src/web/reference/search.ts',
  // A loop that fills a table of this module, as part of its definition.
  'src/fiscal/characters.ts',
  'src/fiscal/geography/place-records.ts',
];

/** The only index files. Other files are named after their subject. */
const INDEX_FILES = ['src/client/index.ts', 'src/contract/index.ts', 'src/fiscal/index.ts'];

const MAX_LINES = 400;

const RULES_PAGE = 'docs/architecture.md#who-may-import-whom';
const ARROW_REMEDY = `Pass the value in from above, or move the code to the folder that it serves; see ${RULES_PAGE}`;

const root = join(import.meta.dirname, '..');
const modules = readSourceModules(root, ['bin', 'src']);

/** Returns the file or folder of each noun. */
function nounPaths(): readonly string[] {
  const folder = 'src/cli/commands';
  const entries = readdirSync(join(import.meta.dirname, '..', folder), { withFileTypes: true });
  return entries.map((entry) => `${folder}/${entry.name}${entry.isDirectory() ? '/' : ''}`);
}

function findArrows(path: string): readonly [folder: string, mayImport: readonly string[]] | undefined {
  return ARROWS.find(([folder]) => path.startsWith(folder));
}

function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => {
    if (place.startsWith('*')) return path.endsWith(place.slice(1));
    return place.endsWith('/') ? path.startsWith(place) : path === place;
  });
}

/** Our own files are imported by path, packages by name. */
function isFile(imported: string): boolean {
  return /^(bin|data|dist|scripts|src|test)\//.test(imported);
}

function forbiddenArrows({ path, imports }: SourceModule): readonly string[] {
  const found = findArrows(path);
  if (found === undefined) {
    return [`${path} is in no folder of ARROWS: move it into one, or add its folder with what it may import`];
  }
  const [folder, mayImport] = found;
  const rowTypes = isWithin(path, ROW_TYPE_USERS) ? [ROW_TYPES] : [];
  return imports
    .filter((imported) => isFile(imported) && !isWithin(imported, [folder, ...mayImport, ...rowTypes]))
    .map(
      (imported) => `${path} -> ${imported}: ${folder} may import ${listPlaces(mayImport)}. ${ARROW_REMEDY}`,
    );
}

/** package.json may be read for the version. Any other import of a file outside of src is forbidden. */
function forbiddenPackages({ path, imports }: SourceModule): readonly string[] {
  return imports
    .filter((imported) => !isFile(imported) && imported !== 'package.json')
    .filter((imported) => {
      if (!imported.startsWith('node:')) return !isWithin(path, PACKAGES[imported] ?? []);
      const folder = findArrows(path)?.[0] ?? '';
      const isFree = NODE_MODULES[folder]?.includes(imported) ?? true;
      const isReached = NODE_REACH[imported] === undefined || isWithin(path, NODE_REACH[imported]);
      return !(isFree && isReached);
    })
    .map((imported) => `${path} -> ${imported}: ${packageRule(imported)}`);
}

function listPlaces(places: readonly string[]): string {
  return places.length === 0 ? 'nothing' : places.join(', ');
}

/** Says where a package or a module of Node may be imported, and what to do elsewhere. */
function packageRule(imported: string): string {
  const places = PACKAGES[imported] ?? NODE_REACH[imported];
  if (imported.startsWith('node:') && places === undefined) {
    return 'this folder also runs outside of Node (NODE_MODULES). Pass in what the module would do';
  }
  if (places === undefined)
    return 'no table lists this package. Add a line to PACKAGES that says where it serves';
  return `may be imported by ${listPlaces(places)}. Use what that folder exports, see ${RULES_PAGE}`;
}

function forbiddenProcessMembers({ path, processMembers }: SourceModule): readonly string[] {
  return [...processMembers]
    .filter((member) => PROCESS_MEMBERS[member] !== undefined && !isWithin(path, PROCESS_MEMBERS[member]))
    .map((member) => {
      const places = listPlaces(PROCESS_MEMBERS[member] ?? []);
      return `${path}: process.${member}: may be used by ${places}. Take what it gives as an argument`;
    });
}

function forbiddenMethods({ path, readMembers }: SourceModule): readonly string[] {
  return [...readMembers]
    .filter((method) => Object.hasOwn(METHODS, method) && !isWithin(path, METHODS[method] ?? []))
    .map((method) => {
      const places = listPlaces(METHODS[method] ?? []);
      return `${path}: .${method}: may be used by ${places}. Add the store to the purges of src/server/app/purges.ts`;
    });
}

/** Returns the places of a table that no module uses. Such a place allows what nobody has decided to allow. */
function unusedPlaces(
  table: Readonly<Record<string, readonly string[]>>,
  uses: (module: SourceModule, name: string) => boolean,
): readonly string[] {
  return Object.entries(table).flatMap(([name, places]) =>
    places
      .filter((place) => !modules.some((module) => isWithin(module.path, [place]) && uses(module, name)))
      .map((place) => `${name} in ${place}`),
  );
}

/** Returns the arrows that no module draws. What every noun of the command line may import is judged for none of them. */
function unusedArrows(): readonly string[] {
  const nouns = nounPaths();
  return ARROWS.flatMap(([folder, listed]) => {
    const mayImport = nouns.includes(folder) ? (CLI_NOUN_ARROWS[folder] ?? []) : listed;
    const within = modules.filter(({ path }) => findArrows(path)?.[0] === folder);
    const imported = within.flatMap(({ imports }) => imports);
    return mayImport
      .filter((place) => !imported.some((path) => isWithin(path, [place])))
      .map((place) => `${folder} -> ${place}`);
  });
}

describe('the source tree', () => {
  it('has the documented folders', () => {
    const folders = new Set(modules.map(({ path }) => findArrows(path)?.[0]));
    for (const folder of [
      'bin/',
      'src/contract/',
      'src/server/webhooks/',
      'src/server/platform/',
      'src/server/',
    ]) {
      expect(folders).toContain(folder);
    }
    expect(modules.length).toBeGreaterThan(100);
  });

  it('has only imports along the arrows', () => {
    expect(modules.flatMap(forbiddenArrows)).toEqual([]);
  });

  it('imports each package only where the tables allow it', () => {
    expect(modules.flatMap(forbiddenPackages)).toEqual([]);
  });

  it('has no row in its tables that nothing uses', () => {
    const imports = ({ imports }: SourceModule, name: string) => imports.includes(name);
    expect([
      ...unusedPlaces(PACKAGES, imports),
      ...unusedPlaces(NODE_REACH, imports),
      ...unusedArrows(),
      ...unusedPlaces(PROCESS_MEMBERS, ({ processMembers }, name) => processMembers.has(name)),
      ...unusedPlaces(METHODS, ({ readMembers }, name) => readMembers.has(name)),
    ]).toEqual([]);
  });

  it('imports nothing that the tables do not list', () => {
    expect(modules.filter((module) => module.hasUnknownImports).map(({ path }) => path)).toEqual([]);
  });

  it('has no import cycles', () => {
    expect(importCycles(modules).map((cycle) => cycle.join(' -> '))).toEqual([]);
  });

  it('ends the process and reads the environment only in the entry points', () => {
    expect(modules.flatMap(forbiddenProcessMembers)).toEqual([]);
  });

  it('deletes what is over only where the clocks are compared', () => {
    expect(modules.flatMap(forbiddenMethods)).toEqual([]);
  });

  it('does nothing on import except define things', () => {
    const withSideEffects = modules.filter(({ hasSideEffects }) => hasSideEffects).map(({ path }) => path);
    expect(withSideEffects.filter((path) => !MODULES_WITH_SIDE_EFFECTS.includes(path))).toEqual([]);
  });

  it('has no default exports', () => {
    expect(modules.filter((module) => module.hasDefaultExport).map(({ path }) => path)).toEqual([]);
  });

  it('has an index.ts only in the three published folders', () => {
    const indexes = modules.map(({ path }) => path).filter((path) => /(^|\/)index\.[jt]s$/.test(path));
    expect(indexes.filter((path) => !INDEX_FILES.includes(path))).toEqual([]);
  });

  it('has no folder named helpers, utils or common', () => {
    const paths = readSourceModules(root, ['bin', 'src', 'test', 'scripts', 'proof']).map(({ path }) => path);
    expect(paths.filter((path) => /(^|\/)(utils?|helpers?|common|misc|lib)\//.test(path))).toEqual([]);
  });

  it('has no file over the limit of lines', () => {
    const long = modules.filter(({ path, lineCount }) => lineCount > MAX_LINES && !isGenerated(path));
    expect(long.map(({ path, lineCount }) => `${path}: ${lineCount} lines`)).toEqual([]);
  });
});

function isGenerated(path: string): boolean {
  return path.startsWith('src/fiscal/data/');
}

describe('the rules of the source tree', () => {
  const parse = (source: string, path = 'src/server/rooms/some.ts') => parseModule(path, source);

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
    ['src/server/webhooks/some.ts', '../events/store.ts'],
    ['src/server/rooms/some.ts', '../recordings/store.ts'],
    ['src/server/recordings/some.ts', '../transcription/store.ts'],
    ['src/server/platform/livekit/some.ts', '../../rooms/rooms.ts'],
    ['src/server/platform/storage/some.ts', '../../webhooks/store.ts'],
    ['src/server/platform/jobs/some.ts', '../storage/engine.ts'],
    ['src/server/platform/storage/some.ts', '../../schema/tables.ts'],
    ['src/server/webhooks/some.ts', '../schema/tables.ts'],
    ['src/server/schema/some.ts', '../webhooks/dispatcher/dispatcher.ts'],
    ['src/server/transcription/engines/some.ts', '../models/catalogue.ts'],
    ['src/server/media-simulator/some.ts', '../platform/clock.ts'],
    ['src/cli/some.ts', '../server/main.ts'],
    ['src/cli/some.ts', '../fiscal/check.ts'],
    ['src/cli/errors/some.ts', '../terminal/table.ts'],
    ['src/cli/terminal/some.ts', '../framework/context.ts'],
    ['src/cli/framework/some.ts', '../commands/rooms.ts'],
    ['src/cli/commands/rooms/commands.ts', '../events/commands.ts'],
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
    ['src/server/rooms/some.ts', 'node:sqlite'],
    ['src/server/rooms/some.ts', 'fastify'],
    ['src/server/platform/http/some.ts', 'node:sqlite'],
    ['src/server/platform/http/some.ts', 'livekit-server-sdk'],
    ['src/server/platform/livekit/some.ts', 'pg'],
    ['src/server/webhooks/some.ts', 'kysely'],
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

  it('see a deletion of what is over', () => {
    expect(forbiddenMethods(parse('await store.blocks.purge(clock.now(), 500);'))).toHaveLength(1);
  });

  it('see a cycle, also one that only type imports close', () => {
    const cycle = [
      parse(`import { b } from './b.ts';`, 'src/a.ts'),
      parse(`import { c } from './c.ts';`, 'src/b.ts'),
      parse(`import type { A } from './a.ts';`, 'src/c.ts'),
    ];
    expect(importCycles(cycle)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts']]);
  });

  it('do not take a lazy import for a cycle, because it breaks one', () => {
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
    expect(parse('start();').hasSideEffects).toBe(true);
    expect(parse('export const a = make();').hasSideEffects).toBe(false);
    expect(parse('const load = () => import(name);').hasUnknownImports).toBe(true);
  });
});

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { thirdPartyNotices } from './third-party-notices.ts';

/*
 * Builds dist/ from src/: the command line and the service bundled with their packages (start-up time, memory), the
 * libraries with npm packages left outside, their declarations, the script of the API reference page, and the notices
 * of everything that is bundled. The same sources and packages give the same bytes.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const OUTPUT = { format: 'esm', sourcemap: false, minify: false } as const;

/** Packages of a library stay outside; node: and npm names do not start with a dot or a slash. */
const isPackage = (id: string): boolean => !id.startsWith('.') && !id.startsWith('/');

/** Native or optional: found at run time, or not. */
const OUTSIDE_THE_SERVICE = [
  /^@livekit\/rtc-node/,
  /^sherpa-onnx/,
  /^pg-native$/,
  /^pg-cloudflare$/,
  /^pino-pretty$/,
];

const bundledModules = new Set<string>();

/** Built aside and put in place whole: who runs rtc meanwhile finds the old one or the new one. */
const OUT = `${ROOT}.cache/build-${process.pid}`;

try {
  await mkdir(OUT, { recursive: true });
  await Promise.all([
    buildCli(),
    buildServer(),
    buildLibraries(),
    writeReferenceScript(),
    writeDeclarations(),
  ]);
  await writeFile(`${OUT}/THIRD-PARTY-NOTICES`, thirdPartyNotices(bundledModules));
  await putInPlace();
} finally {
  await rm(OUT, { recursive: true, force: true });
}

async function putInPlace(): Promise<void> {
  const dist = `${ROOT}dist`;
  const former = `${OUT}-former`;
  if (existsSync(dist)) await rename(dist, former);
  await rename(OUT, dist);
  await rm(former, { recursive: true, force: true });
}

async function buildCli(): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { main: 'src/cli/main.ts' },
    platform: 'node',
    plugins: [slimUndici(), slimCommander()],
    // An import of node:http only for its names would load Node's own undici: unused ones must go.
    treeshake: {
      moduleSideEffects: [
        { external: true, sideEffects: false },
        // An import of ours does nothing but define things, which a test of the house holds.
        { test: /\/src\//, sideEffects: false },
        { test: /./, sideEffects: true },
      ],
    },
  });
  const { output } = await bundle.write({
    ...OUTPUT,
    dir: `${OUT}/cli`,
    minify: true,
    codeSplitting: {
      // Each file of its own takes half a millisecond: what every command loads is in two, and `cf check` in a third.
      groups: [
        {
          name: 'start',
          test: /\/src\/cli\/(registry|framework\/help\/root-help|framework\/leading-options|terminal\/colours|errors\/cli-error)\.ts$/,
          priority: 2,
        },
        { name: 'cf', test: /\/src\/cli\/commands\/cf\/commands\.ts$/, priority: 0 },
        { name: 'run', test: /\/src\/cli\/(framework\/run-command|terminal\/result)\.ts$/, priority: 1 },
      ],
    },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  remember(output);
  await bundle.close();
}

/**
 * undici's index loads WebSocket, fetch, caches and mocks. The client needs its Agent and request: for it, the name
 * stands for these two, from the same package. The proxy agent, asked for dynamically, comes from the whole.
 */
function slimUndici(): Plugin {
  const slim = '\0undici-agent';
  return {
    name: 'slim-undici',
    resolveId(source, importer) {
      return source === 'undici' && isSlimImporter(importer) ? slim : null;
    },
    load(id) {
      if (id !== slim) return null;
      const lib = `${ROOT}node_modules/undici/lib`;
      return `
        import Agent from '${lib}/dispatcher/agent.js';
        import Dispatcher from '${lib}/dispatcher/dispatcher.js';
        import request from '${lib}/api/api-request.js';
        Dispatcher.prototype.request = request;
        export { Agent };`;
    },
  };
}

/**
 * An import of Node's own reads all that it exports, and some of it loads half of Node. commander needs little of it:
 * the parts are taken by hand. It starts no processes for us.
 */
function slimCommander(): Plugin {
  const builtins: Readonly<Record<string, string>> = {
    'node:process': 'export default globalThis.process;',
    'node:child_process': 'export default {};',
    'node:fs':
      'export default { existsSync: (path) => process.getBuiltinModule("node:fs").existsSync(path) };',
    'node:path': 'export default process.getBuiltinModule("node:path");',
    'node:events': 'export const { EventEmitter } = process.getBuiltinModule("node:events");',
    'node:util':
      'export const stripVTControlCharacters = (text) => process.getBuiltinModule("node:util").stripVTControlCharacters(text);',
  };
  return {
    name: 'slim-commander',
    resolveId(source, importer) {
      const isIts = /\/commander\//.test(importer ?? '');
      return isIts && Object.hasOwn(builtins, source) ? `\0slim:${source}` : null;
    },
    load: (id) => (id.startsWith('\0slim:') ? (builtins[id.slice('\0slim:'.length)] ?? null) : null),
  };
}

function isSlimImporter(importer: string | undefined): boolean {
  return /\/(cli\/connection\/undici-agent|cli\/commands\/dev\/embedded-control|cli\/commands\/events\/post-event)\.ts$/.test(
    importer ?? '',
  );
}

/** With its packages: a service that loads a dozen files listens in half the time, in three quarters of the memory. */
async function buildServer(): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: {
      main: 'src/server/main.ts',
      dev: 'src/server/dev.ts',
      worker: 'src/server/worker.ts',
      stt: 'src/server/stt.ts',
    },
    platform: 'node',
    external: OUTSIDE_THE_SERVICE,
    plugins: [asciiOnly()],
  });
  const { output } = await bundle.write({
    ...OUTPUT,
    dir: `${OUT}/server`,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  remember(output);
  await bundle.close();
}

/** A single character beyond it, and V8 keeps the whole file with two bytes for each: 6 MB of the idle service. */
function asciiOnly(): Plugin {
  const escapeOne = (character: string): string =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'ascii-only',
    // Behind a backslash the escape would be another text: left as it is.
    renderChunk: (code) => code.replace(/(?<!\\)[\u0080-\uffff]/g, escapeOne),
  };
}

/** Which modules are in the bundles, for their notices. */
function remember(output: readonly (OutputChunk | OutputAsset)[]): void {
  for (const part of output) {
    if (part.type === 'chunk') for (const id of part.moduleIds) bundledModules.add(id);
  }
}

async function buildLibraries(): Promise<void> {
  for (const name of ['client', 'contract', 'fiscal']) {
    // One by one: a shared chunk would make the client load what only the contract needs.
    const bundle = await rolldown({
      cwd: ROOT,
      input: { index: `src/${name}/index.ts` },
      platform: name === 'fiscal' ? 'neutral' : 'node',
      external: isPackage,
    });
    await bundle.write({ ...OUTPUT, dir: `${OUT}/${name}`, entryFileNames: '[name].js' });
    await bundle.close();
  }
}

async function writeDeclarations(): Promise<void> {
  await run('tsc', ['--project', 'scripts/tsconfig.declarations.json', '--outDir', `${OUT}/types`]);
  // tsc rewrites `./x.ts` in JavaScript but not in declarations, where a reader's compiler would refuse it.
  const types = `${OUT}/types`;
  for (const file of await readdir(types, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(`${types}/${file}`, 'utf8');
    await writeFile(`${types}/${file}`, text.replace(/((?:from|import\() ?'\.[^']*)\.ts'/g, "$1.js'"));
  }
}

/** The API reference page's script, out of the package that embeds it: asked for as a browser would. */
async function writeReferenceScript(): Promise<void> {
  const [{ fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { content: { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } },
  });
  const answer = await app.inject('/docs/js/scalar.js');
  await app.close();
  if (answer.statusCode !== 200 || answer.rawPayload.length < 100_000) {
    throw new Error(`@scalar/fastify-api-reference answered ${answer.statusCode} for its script`);
  }
  bundledModules.add(`${ROOT}node_modules/@scalar/fastify-api-reference/dist/index.js`);
  await mkdir(`${OUT}/reference`, { recursive: true });
  await writeFile(`${OUT}/reference/scalar.js`, answer.rawPayload);
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const path = `${ROOT}node_modules/.bin/${command}`;
  const child = spawn(path, [...args], { cwd: ROOT, stdio: 'inherit' });
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

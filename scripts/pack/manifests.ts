import { readFile } from 'node:fs/promises';
import { ROOT } from '../build/output.ts';

export type Manifest = Readonly<Record<string, unknown>>;

/** The fields of the repository's package.json that the published package also has. */
const PUBLISHED_FIELDS = [
  ...['name', 'version', 'description', 'keywords', 'license', 'type'],
  ...['bin', 'exports', 'files', 'engines', 'peerDependencies', 'peerDependenciesMeta'],
];

export async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as Manifest;
}

/**
 * Returns the manifest of rtc-service, without what only a checkout needs: the scripts, about which npm would warn, the
 * tools, and the Node of each platform.
 *
 * @param manuals Names of the manual pages in dist/man.
 */
export function mainManifest(root: Manifest, manuals: readonly string[]): Manifest {
  const published = Object.fromEntries(PUBLISHED_FIELDS.map((field) => [field, root[field]]));
  // npm installs manual pages of a global package where `man` finds them.
  return {
    ...published,
    dependencies: typeDependencies(root),
    man: manuals.map((name) => `./dist/man/${name}`),
  };
}

/** @param modules Names of the modules that can be imported individually, such as `check`. */
export function fiscalManifest(root: Manifest, modules: readonly string[]): Manifest {
  const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
  return {
    ...libraryManifest(root, 'fiscal'),
    description: 'Italian fiscal codes and places by the official tables: no dependency, no I/O, no clock',
    keywords: ['codice-fiscale', 'fiscal-code', 'italy', 'comuni', 'belfiore', 'validation'],
    sideEffects: false,
    engines: { node: '>=18' },
    exports: {
      '.': entry('index'),
      ...Object.fromEntries(modules.map((name) => [`./${name}`, entry(name)])),
      './package.json': './package.json',
    },
  };
}

export function clientManifest(root: Manifest): Manifest {
  return {
    ...libraryManifest(root, 'client'),
    description: 'Typed client of rtc-service: rooms, tokens, recordings, webhooks, transcriptions',
    keywords: ['livekit', 'webrtc', 'rooms', 'recording', 'transcription', 'webhooks', 'client'],
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': { types: './types/client/index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    dependencies: typeDependencies(root),
  };
}

function libraryManifest(root: Manifest, name: string): Manifest {
  const { version, license } = root;
  return { name: `@rtc-service/${name}`, version, license, type: 'module' };
}

/** The published packages are bundled. Only their declarations use another package: the types of typebox. */
function typeDependencies({ dependencies }: Manifest): Manifest {
  const { typebox } = dependencies as Manifest;
  return { typebox };
}

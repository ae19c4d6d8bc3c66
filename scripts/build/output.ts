import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown';

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMON = {
  format: 'esm',
  sourcemap: false,
  minify: false,
  comments: false,
  entryFileNames: '[name].js',
} as const;

/** Writes a bundle. Returns its modules, for the notices. */
export async function writeBundle(input: InputOptions, output: OutputOptions): Promise<readonly string[]> {
  const bundle = await rolldown({ cwd: ROOT, ...input });
  const written = await bundle.write({ ...COMMON, chunkFileNames: 'chunks/[name]-[hash].js', ...output });
  await bundle.close();
  return written.output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
}

/**
 * Escapes characters outside ASCII. With a single one of them, V8 would keep the whole file at two bytes a character: 6 MB
 * of the idle service.
 */
export function asciiOnly(): Plugin {
  const escapeOne = (character: string): string =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'ascii-only',
    // Runs after the minifier, which writes characters instead of escapes.
    generateBundle(_options, bundle) {
      for (const part of Object.values(bundle)) {
        // A character after a backslash is left as it is, because its escape would be another text.
        if (part.type === 'chunk') part.code = part.code.replace(/(?<!\\)[\u0080-\uffff]/g, escapeOne);
      }
    },
  };
}

/** Runs a program of node_modules/.bin. */
export async function runTool(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(`${ROOT}node_modules/.bin/${command}`, [...args], { cwd: ROOT, stdio: 'inherit' });
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

/** The files that a build reads. The versions of all packages are in the lock file. */
const INPUTS = [
  'src',
  'bin',
  'docs',
  'clients/README.md',
  'scripts/build',
  'scripts/build.ts',
  'package.json',
  'package-lock.json',
];

/** The hash of what the last build has read. It is outside of dist, which is published as it is. */
const BUILT_FROM = `${ROOT}.cache/built-from`;

/** Returns a hash that changes with anything that a build reads. */
export async function hashInputs(): Promise<string> {
  const hash = createHash('sha256');
  for (const path of (await Promise.all(INPUTS.map(listFiles))).flat()) {
    hash.update(path).update(await readFile(`${ROOT}${path}`));
  }
  return hash.digest('hex');
}

async function listFiles(path: string): Promise<readonly string[]> {
  if ((await stat(`${ROOT}${path}`)).isFile()) return [path];
  const entries = await readdir(`${ROOT}${path}`, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(ROOT.length))
    .toSorted();
}

/** Remembers what the build was made from. The hash is that of the inputs before the build. */
export async function rememberInputs(hash: string): Promise<void> {
  await mkdir(`${ROOT}.cache`, { recursive: true });
  await writeFile(BUILT_FROM, hash);
}

/** Whether dist has what a build would make now. */
export async function isUpToDate(): Promise<boolean> {
  const builtFrom = await readFile(BUILT_FROM, 'utf8').catch(() => undefined);
  return existsSync(`${ROOT}dist/cli/main.js`) && builtFrom === (await hashInputs());
}

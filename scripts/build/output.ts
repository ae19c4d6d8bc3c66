import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown';

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const COMMON = { format: 'esm', sourcemap: false, minify: false, entryFileNames: '[name].js' } as const;

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

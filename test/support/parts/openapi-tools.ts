import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openApiTools as pinnedTools } from '../../../scripts/parts/pinned-folder.ts';

export type Ran = { readonly status: number; readonly output: string };
type Options = { readonly cwd: string; readonly env?: Readonly<Record<string, string>> };

const run = promisify(execFile);

/** Runs a program to its end. Resolves to its output on both streams. */
export async function runProgram(program: string, args: readonly string[], options: Options): Promise<Ran> {
  const env = { ...process.env, ...options.env };
  try {
    const { stdout, stderr } = await run(program, args, { cwd: options.cwd, env, maxBuffer: 1e8 });
    return { status: 0, output: stdout + stderr };
  } catch (error) {
    const failed: { code?: unknown; stdout?: string; stderr?: string } = Object(error);
    const status = typeof failed.code === 'number' ? failed.code : 1;
    return { status, output: `${failed.stdout ?? error}${failed.stderr ?? ''}` };
  }
}

/** The linters and generators that `npm run test:extended` installs once. */
export async function openApiTools() {
  const folder = await pinnedTools.find();
  if (folder === undefined) throw new Error('The OpenAPI tools are not there: run npm run test:extended');
  const python = { PYTHONPATH: join(folder, 'python'), PATH: `${folder}/python/bin:${process.env.PATH}` };
  return {
    pythonPath: python.PYTHONPATH,
    npm: (program: string, args: readonly string[], cwd: string): Promise<Ran> =>
      runProgram(join(folder, 'node_modules/.bin', program), args, { cwd }),
    python: (program: string, args: readonly string[], cwd: string): Promise<Ran> =>
      runProgram('python3', [join(folder, 'python/bin', program), ...args], { cwd, env: python }),
    java: (args: readonly string[], cwd: string): Promise<Ran> => {
      const archive = join(folder, 'python/openapi_generator_cli/openapi-generator.jar');
      return runProgram('java', ['-jar', archive, ...args], { cwd });
    },
  };
}

import { join } from 'node:path';
import { schemathesis } from '../../../scripts/parts/pinned-folder.ts';
import { runPart } from './run-part.ts';

export type SchemathesisRun = { readonly status: number | null; readonly output: string };

export type SchemathesisOptions = {
  readonly args: readonly string[];
  /** The folder and the name of the module with the hooks. */
  readonly hooks: { readonly folder: string; readonly module: string };
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Runs Schemathesis to its end. Resolves to its whole output. */
export async function runSchemathesis({
  args,
  hooks,
  cwd,
  env,
}: SchemathesisOptions): Promise<SchemathesisRun> {
  const folder = await schemathesis.find();
  if (folder === undefined) throw new Error('Schemathesis is not installed: `npm test` installs it once');
  const chunks: string[] = [];
  const part = runPart({
    name: 'schemathesis',
    program: 'python3',
    args: [join(folder, 'bin', 'schemathesis'), ...args],
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      PYTHONPATH: `${folder}:${hooks.folder}`,
      SCHEMATHESIS_HOOKS: hooks.module,
      NO_COLOR: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      COLUMNS: '200',
      ...env,
    },
    onOutput: (text) => chunks.push(text),
  });
  return { status: await part.exited, output: chunks.join('') };
}

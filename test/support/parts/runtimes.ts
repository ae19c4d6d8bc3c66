import { findRuntime, type Runtime } from '../../../scripts/parts/pinned-folder.ts';

/** Returns the program of another runtime, which `npm run test:extended` installs once. */
export async function runtimeProgram(name: Runtime): Promise<string> {
  const program = await findRuntime(name);
  if (program === undefined) throw new Error(`${name} is not there: run npm run test:extended`);
  return program;
}

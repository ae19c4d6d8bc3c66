import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { helm as builtHelm } from '../../../scripts/parts/go-toolchain.ts';

/** Runs Helm; rejects with its output if it fails. It reaches no cluster. */
export async function runHelm(...args: readonly string[]): Promise<string> {
  const helm = await builtHelm.find();
  if (helm === undefined) throw new Error('Helm is not there: npm run test:extended builds it');
  const { stdout } = await promisify(execFile)(helm, args, { maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

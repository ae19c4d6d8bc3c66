import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FirstViolation } from './first-violation.ts';
import type { PlantedFault } from './planted-faults.ts';

const SEARCH = join(import.meta.dirname, 'search-planted.ts');

/**
 * Searches with the fault in the source, in a process of its own, with at most `maxSteps` moves in each scenario. Resolves to
 * undefined if no rule was broken.
 */
export async function searchPlanted(
  { name }: PlantedFault,
  maxSteps: number,
): Promise<FirstViolation | undefined> {
  const { stdout } = await promisify(execFile)(process.execPath, [SEARCH, name, `${maxSteps}`]);
  return JSON.parse(stdout) ?? undefined;
}

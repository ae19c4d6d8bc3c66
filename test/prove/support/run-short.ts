import { expect } from 'vitest';
import type { ProofPart } from '../../../prove/part.ts';
import { runPart } from '../../../prove/run-part.ts';

/** The short form of a part: everything that it claims is seen. */
export async function expectToHold(part: ProofPart): Promise<void> {
  const { figures } = await runPart(part, 'short', () => {});
  expect(figures.filter((figure) => figure.holds !== undefined)).not.toEqual([]);
  expect(figures.filter((figure) => figure.holds === false)).toEqual([]);
}

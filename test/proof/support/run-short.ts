import { expect } from 'vitest';
import { type ProofPart, runPart } from '../../../proof/part.ts';

/** Runs the short form of a part, and expects every claim to hold. */
export async function expectToHold(part: ProofPart): Promise<void> {
  const { figures } = await runPart(part, 'short', () => {});
  expect(figures.filter((figure) => figure.holds !== undefined)).not.toEqual([]);
  expect(figures.filter((figure) => figure.holds === false)).toEqual([]);
}

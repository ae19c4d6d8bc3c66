import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { proofDocument } from '../../prove/document.ts';
import type { ProofPart } from '../../prove/part.ts';
import { parts } from '../../prove/parts.ts';
import { landedResults } from '../../prove/results.ts';
import { holds, runPart } from '../../prove/run-part.ts';

const part: ProofPart = {
  name: 'sample',
  title: 'A sample',
  claim: 'It is so.',
  attack: ['By looking.'],
  notClaimed: ['That it stays so.'],
  run: async ({ cleanUp }) => {
    cleanUp(() => closed.push('first'));
    cleanUp(() => closed.push('last'));
    return { figures: [{ name: 'seen | once', measured: '2', bound: '1', holds: false }] };
  },
};
const closed: string[] = [];

describe('docs/proof.md', () => {
  it('holds the results that were landed, and what the parts say of themselves', async () => {
    const document = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');
    expect(document).toBe(proofDocument(parts, await landedResults()));
  });

  it('shows what did not hold, and parts that have not been run', async () => {
    const result = await runPart(part, 'short', () => {});
    expect(holds(result)).toBe(false);
    const document = proofDocument([part, { ...part, name: 'other' }], { sample: result });
    expect(document).toContain('| seen \\| once | 2 |  | 1 | NO |');
    expect(document).toContain('this part has not been run to its end');
  });

  it('ends what a part started, the last first', () => {
    expect(closed).toEqual(['last', 'first']);
  });
});

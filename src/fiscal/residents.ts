import { SLOT_COUNT } from './code-table.ts';
import { residentsBlock } from './data/residents.ts';
import { DIGIT_VALUES } from './packed-symbols.ts';
import { comuniInForce } from './place-records.ts';
import { byteAt } from './typed-access.ts';

/** Returns a number that grows with the residents of a comune in force, from 1 to 64; 0 for any other place. */
export const residentsRank = (slot: number): number => {
  ranks ??= readRanks();
  return byteAt(ranks, slot);
};

let ranks: Uint8Array | undefined;

const readRanks = (): Uint8Array => {
  const block = residentsBlock();
  const bySlot = new Uint8Array(SLOT_COUNT);
  for (const [at, slot] of comuniInForce().entries())
    bySlot[slot] = 1 + byteAt(DIGIT_VALUES, block.charCodeAt(at));
  return bySlot;
};

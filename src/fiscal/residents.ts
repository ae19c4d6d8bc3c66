import { SLOT_COUNT } from './code-table.ts';
import { residentsBlock } from './data/residents.ts';
import { allRecords, isStato, recordToday } from './place-records.ts';
import { byteAt } from './typed-access.ts';

/** Returns a number that grows with the residents of a comune in force, from 1 to 64; 0 for any other place. */
export const residentsRank = (slot: number): number => {
  ranks ??= readRanks();
  return byteAt(ranks, slot);
};

let ranks: Uint8Array | undefined;

const readRanks = (): Uint8Array => {
  const records = allRecords();
  const block = residentsBlock();
  const bySlot = new Uint8Array(SLOT_COUNT);
  let at = 0;
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    if (records.periods[slot] === 0 || isStato(slot) || recordToday(records, slot) < 0) continue;
    bySlot[slot] = 1 + DIGITS.indexOf(block.charAt(at++));
  }
  return bySlot;
};

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

import { slotOfCode } from './code-table.ts';
import { regionBlock } from './data/territory.ts';

/** Whether the place is the capital of a province of today. */
export const isCapital = (slot: number): boolean => {
  capitals ??= new Set([...regionBlock().matchAll(PROVINCE_ENTRY)].map(([, code = '']) => slotOfCode(code)));
  return capitals.has(slot);
};

/** An abbreviation, then the code of the capital. */
const PROVINCE_ENTRY = /\|[A-Z]{2}([A-Z]\d{3})/g;

let capitals: ReadonlySet<number> | undefined;

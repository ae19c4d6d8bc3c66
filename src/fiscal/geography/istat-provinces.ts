/**
 * The provinces of Sardinia. ISTAT has used those of the regional law of 2021 since 1 January 2026; ANPR's registry still
 * has the five of 2016. What is shown is ANPR's; both are accepted.
 */
import { slotOfCode } from '../code-table.ts';
import { istatProvinceBlock } from '../data/istat-provinces.ts';
import { provinceNumber } from './place-records.ts';

/** A province as ISTAT has it today, where ANPR has another one. */
export type IstatProvince = {
  readonly abbreviation: string;
  readonly name: string;
  /** First day in ISO form. */
  readonly validFrom: string;
};

/** Returns ISTAT's province of a comune in force, by its Belfiore code; null where ANPR has the same. */
export const istatProvince = (codiceCatastale: string): IstatProvince | null => {
  const slot = typeof codiceCatastale === 'string' ? slotOfCode(codiceCatastale.toUpperCase()) : -1;
  return readProvinces().get(slot)?.province ?? null;
};

/** Returns the number of ISTAT's province, as records have numbers of provinces; -1 where ANPR has the same. */
export const istatProvinceNumber = (slot: number): number => readProvinces().get(slot)?.number ?? -1;

type Entry = { readonly province: IstatProvince; readonly number: number };

let entries: ReadonlyMap<number, Entry> | undefined;

const readProvinces = (): ReadonlyMap<number, Entry> => {
  entries ??= new Map(istatProvinceBlock().split('~').flatMap(readProvince));
  return entries;
};

const readProvince = (line: string): [number, Entry][] => {
  const [head = '', codes = ''] = line.split('|');
  const abbreviation = head.slice(0, 2);
  const province = Object.freeze({ abbreviation, name: head.slice(2), validFrom: FIRST_DAY });
  const entry = { province, number: provinceNumber(abbreviation) };
  return (codes.match(/.{4}/g) ?? []).map((code) => [slotOfCode(code), entry]);
};

/** ISTAT's codes of the new provinces are in force since this day. */
const FIRST_DAY = '2026-01-01';

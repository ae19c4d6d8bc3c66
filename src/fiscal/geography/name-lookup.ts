/** Looks up a place by its name as written, or by its Belfiore code. */
import { isKnownCode, slotOfCode } from '../code-table.ts';
import { PROVINCES } from '../data/places.ts';
import {
  ANY_PROVINCE,
  addCandidates,
  chooseCandidate,
  clearCandidates,
  isInProvince,
  readProvince,
  UNKNOWN_PLACE,
} from './place-candidates.ts';
import { provinceNumber } from './place-records.ts';

export const UNKNOWN_PROVINCE = -3;

/** The result of the last look-up: the slot, whether a code was given, and the ended place whose successor it is, or -1. */
export const found = { slot: -1, isCode: false, ended: -1 };

export const lookUpName = (name: string, province: number, date: number): number => {
  // The second character, which is a digit in all codes, distinguishes codes from most names of four letters.
  const mayBeCode = name.length === 4 && name.charCodeAt(1) <= LAST_DIGIT;
  const code = mayBeCode ? slotOfCode(name.toUpperCase()) : -1;
  if (isKnownCode(code)) {
    found.isCode = isInProvince(code, province);
    return found.isCode ? code : UNKNOWN_PLACE;
  }
  clearCandidates();
  addCandidates(name, province, date);
  return chooseCandidate(name, date);
};

const LAST_DIGIT = 57;

/** Returns the number of a province, {@link ANY_PROVINCE} if none is given. */
export const findProvinceNumber = (province: unknown): number => {
  if (typeof province !== 'string' || province === '') return ANY_PROVINCE;
  const number = readProvince(province);
  if (number === ANY_PROVINCE) return number;
  knownProvinces ??= readKnownProvinces();
  return knownProvinces[number] === 1 ? number : UNKNOWN_PROVINCE;
};

/** Has 1 at the number of each province that ever existed. Built at the first use, because a check does not need it. */
let knownProvinces: Uint8Array | undefined;

function readKnownProvinces(): Uint8Array {
  const known = new Uint8Array(26 * 26);
  for (let at = 0; at < PROVINCES.length; at += 2) known[provinceNumber(PROVINCES.slice(at, at + 2))] = 1;
  return known;
}

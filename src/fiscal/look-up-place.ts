/** Looks up the place for a name, a province and a date, as a slot. findPlace and generate share this. */
import { findProvinceNumber, found, lookUpName, UNKNOWN_PROVINCE } from './name-lookup.ts';
import { lookUpOtherwise, lookUpWithProvince } from './other-readings.ts';
import {
  clearCandidates,
  FIT,
  fitOfSlot,
  isSpelledBy,
  type Search,
  UNKNOWN_PLACE,
} from './place-candidates.ts';
import { hasEndedBefore, successorAt } from './place-records.ts';

/**
 * Why a place was chosen: its Belfiore code was given; it had this name on the date; the name is an alias; it had the name
 * at another time; it began later; it had ended; its dates are unknown; or it is the successor of a place that had ended.
 */
export type PlaceMatch =
  | 'code'
  | 'name'
  | 'alias'
  | 'other-name'
  | 'later'
  | 'ended'
  | 'undated'
  | 'successor';

export const MISSING_PLACE = -4;

/** Returns the slot of the place, or one of the four negative results. Candidates are kept until the next call. */
export const lookUpPlace = (name: string, province: string, date: number): number => {
  clearCandidates();
  found.isCode = false;
  found.ended = -1;
  if (typeof name !== 'string' || isBlank(name)) return MISSING_PLACE;
  const wanted = findProvinceNumber(province);
  if (wanted === UNKNOWN_PROVINCE) return UNKNOWN_PROVINCE;
  // No place has such a long name, and the patterns below are slow for long runs of spaces.
  if (name.length > LONGEST_NAME) return UNKNOWN_PLACE;
  const meant = lookUpWritten(name, { province: wanted, date });
  return meant < 0 || found.isCode ? meant : orSuccessor(meant, date);
};

const lookUpWritten = (name: string, search: Search): number => {
  const slot = lookUpName(name, search.province, search.date);
  if (slot === UNKNOWN_PLACE) return lookUpOtherwise(name, search);
  if (slot < 0 || found.isCode || !endsInTwoLetters(name) || isSpelledBy(slot, name)) return slot;
  // Without its spaces, `Cameri NO` is Camerino too.
  const inProvince = lookUpWithProvince(name, search);
  return inProvince < 0 ? lookUpName(name, search.province, search.date) : inProvince;
};

/** Whether two letters at the end stand alone. */
const endsInTwoLetters = (name: string): boolean => {
  const character = name.charCodeAt(name.length - 3);
  return character <= SPACE || character === HYPHEN;
};

const HYPHEN = 45;

/** Names begin with a letter, after which nothing needs to be trimmed. */
const isBlank = (text: string): boolean =>
  !(text.charCodeAt(0) > SPACE && text.charCodeAt(0) < 127) && text.trim() === '';

const SPACE = 32;

/** Returns why the last {@link lookUpPlace} chose its place. */
export const lastMatch = (): PlaceMatch => {
  if (found.isCode) return 'code';
  return found.ended >= 0 ? 'successor' : (MATCHES[fitOfSlot(found.slot)] ?? 'undated');
};

/** Whether the last {@link lookUpPlace} returned the successor of the place that was named. */
export const isLastSuccessor = (): boolean => found.ended >= 0;

const MATCHES: readonly PlaceMatch[] = ['undated', 'ended', 'later', 'other-name', 'alias', 'name'];

/** Over twice the longest name, which leaves room for bilingual pairs. */
const LONGEST_NAME = 150;

/** Returns the successor of a place that had ended, if it is known; otherwise the place itself. */
const orSuccessor = (slot: number, date: number): number => {
  found.slot = slot;
  // A place that was in force or began later has not ended before.
  const mayHaveEnded = fitOfSlot(slot) <= FIT.ended;
  const successor = mayHaveEnded && hasEndedBefore(slot, date) ? successorAt(slot, date) : -1;
  if (successor < 0) return slot;
  found.ended = slot;
  return successor;
};

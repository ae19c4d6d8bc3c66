/** The place that a name, a province and a date mean, as a slot: what findPlace and generate share. */
import { found, lookUpName, provinceOf, UNKNOWN_PROVINCE } from './name-lookup.ts';
import { lookUpOtherwise } from './other-readings.ts';
import { clearCandidates, FIT, fitOfSlot, UNKNOWN_PLACE } from './place-candidates.ts';
import { hasEndedBefore, successorAt } from './place-records.ts';

/**
 * Why a place was chosen: its Belfiore code was given; the name was its own on the date; an alias of it; its name of
 * another time; it came later; it had ended; nobody recorded its dates; or it took over a place that had ended.
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

/** The slot of the place, or one of the four negative answers. Candidates stay until the next call. */
export const lookUpPlace = (name: string, province: string, date: number): number => {
  clearCandidates();
  found.isCode = false;
  found.ended = -1;
  if (typeof name !== 'string' || isBlank(name)) return MISSING_PLACE;
  const wanted = provinceOf(province);
  if (wanted === UNKNOWN_PROVINCE) return UNKNOWN_PROVINCE;
  // No place is called so, and the patterns below take their time over long runs of spaces.
  if (name.length > LONGEST_NAME) return UNKNOWN_PLACE;
  const slot = lookUpName(name, wanted, date);
  const meant = slot === UNKNOWN_PLACE ? lookUpOtherwise(name, { province: wanted, date }) : slot;
  return meant < 0 || found.isCode ? meant : orSuccessor(meant, date);
};

/** Names begin with a letter, after which nothing needs to be trimmed. */
const isBlank = (text: string): boolean =>
  !(text.charCodeAt(0) > SPACE && text.charCodeAt(0) < 127) && text.trim() === '';

const SPACE = 32;

/** Why {@link lookUpPlace} answered the slot that it answered last. */
export const lastMatch = (): PlaceMatch => {
  if (found.isCode) return 'code';
  return found.ended >= 0 ? 'successor' : (MATCHES[fitOfSlot(found.slot)] ?? 'undated');
};

/** Whether {@link lookUpPlace} answered the successor of the place that was named. */
export const isLastSuccessor = (): boolean => found.ended >= 0;

const MATCHES: readonly PlaceMatch[] = ['undated', 'ended', 'later', 'other-name', 'alias', 'name'];

/** Over twice the longest name, which leaves room for bilingual pairs. */
const LONGEST_NAME = 150;

/** The place that took over one that had ended, where that is known; else the place itself. */
const orSuccessor = (slot: number, date: number): number => {
  found.slot = slot;
  // A place that was in force, or came later, has not ended before.
  const mayHaveEnded = fitOfSlot(slot) <= FIT.ended;
  const successor = mayHaveEnded && hasEndedBefore(slot, date) ? successorAt(slot, date) : -1;
  if (successor < 0) return slot;
  found.ended = slot;
  return successor;
};

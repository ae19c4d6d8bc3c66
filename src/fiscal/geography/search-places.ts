import { codeKind, codeOfSlot, slotOfCode, UNDATED_CODE } from '../code-table.ts';
import { type Place, type PlaceToday, placeHistoryOfSlot, placeOfRecord } from './place.ts';
import { readRecords, recordAt } from './place-records.ts';
import { type SuggestOptions, suggestPlaces } from './suggest-places.ts';
import { placesOfCap } from './territory.ts';

/** The source of a name and its dates: the registry of the Ministero dell'Interno, or a list without dates. */
export type NameSource = 'ministero-interno' | 'codice-fiscale-js';

/**
 * The source of a successor: ISTAT's list of suppressed comuni; the same list, where the comune keeps its ISTAT code; where
 * the seat is in one of several successors; where the comune was divided among all of them; or general knowledge, entered
 * by hand.
 */
export type SuccessorSource = 'istat' | 'istat-same-code' | 'istat-seat' | 'istat-divided' | 'by-hand';

export type Successor = PlaceToday & { readonly source: SuccessorSource };

/** A place with all of its records. */
export type PlaceWithHistory = {
  /** The place as `suggestPlaces` returns it. */
  readonly place: Place;
  /** Its names and provinces over time, oldest first. */
  readonly history: readonly (Place & { readonly source: NameSource })[];
  /** Its successors, each the successor of the one before; or all comuni among which it was divided. */
  readonly successors: readonly Successor[];
  /** For a postal code: the frazioni of the comune that have it, if the rest has another one. Otherwise empty. */
  readonly frazioni: readonly string[];
};

/**
 * Does the same as `suggestPlaces`, with the history of each place. A postal code, including one that was replaced some
 * years ago, finds its comuni. @throws TypeError if the date is not a date.
 */
export const searchPlaces = (typed: string, options?: SuggestOptions | null): PlaceWithHistory[] =>
  placesFor(typed, options).map(({ place, frazioni }) => {
    const slot = slotOfCode(place.codiceCatastale);
    const source = codeKind(slot) === UNDATED_CODE ? 'codice-fiscale-js' : 'ministero-interno';
    return {
      place,
      history: placeHistoryOfSlot(slot).map((each) => ({ ...each, source })),
      successors: listSuccessors(slot),
      frazioni,
    };
  });

type Found = Pick<PlaceWithHistory, 'place' | 'frazioni'>;

const placesFor = (typed: string, options: SuggestOptions | null | undefined): Found[] => {
  const ofCap = typeof typed === 'string' ? placesOfCap(typed.trim()) : [];
  if (ofCap.length === 0) return suggestPlaces(typed, options).map((place) => ({ place, frazioni: [] }));
  const { province, date, limit = ofCap.length } = options ?? {};
  return ofCap
    .filter((place) => province === undefined || place.province === province.trim().toUpperCase())
    .slice(0, limit)
    .flatMap(({ codiceCatastale, frazioni }) =>
      suggestPlaces(codiceCatastale, { date }).map((place) => ({ place, frazioni })),
    );
};

const listSuccessors = (slot: number): Successor[] => {
  const records = readRecords(slot);
  const heirs = records.heirs.get(slot);
  if (heirs !== undefined) return heirs.map((heir) => successor(heir, 'istat-divided'));
  const chain: Successor[] = [];
  let last = slot;
  for (let next = records.successor[last] ?? 0; next !== 0; next = readRecords(last).successor[last] ?? 0) {
    chain.push(
      successor(next, SOURCES[String.fromCharCode(readRecords(last).evidence[last] ?? 0)] ?? 'by-hand'),
    );
    last = next;
  }
  return chain;
};

/** Sources by their letters in the place blocks. */
const SOURCES: Readonly<Record<string, SuccessorSource>> = {
  i: 'istat',
  c: 'istat-same-code',
  s: 'istat-seat',
  t: 'by-hand',
};

/** Describes a successor by its last name. */
const successor = (slot: number, source: SuccessorSource): Successor => {
  const records = readRecords(slot);
  const { name, province } = placeOfRecord(records, recordAt(records, slot, LAST_DAY));
  return { codiceCatastale: codeOfSlot(slot), name, province, source };
};

const LAST_DAY = 99_991_231;

/**
 * Italian fiscal codes and places, from the official tables. The library has no dependency, no I/O, no clock and no time
 * zone. See docs/fiscal.md.
 */
export type { DateInput } from './calendar-date.ts';
export {
  type Checker,
  type CheckResult,
  type CheckSuccess,
  type CheckWarning,
  check,
  createChecker,
} from './check.ts';
export type { CheckFailure, CheckFault } from './check-failure.ts';
export {
  CHECK_STATUS,
  type CheckOptions,
  type CheckReason,
  type CheckStatus,
  reasonOfStatus,
} from './check-status.ts';
export { checkTaxCode, type TaxCodeKind, type TaxCodeResult } from './check-tax-code.ts';
export type { CheckDetail } from './code-messages.ts';
export { type DataSource, type DataSources, dataSources } from './data-sources.ts';
export { type DecodedCode, type DecodeResult, decode } from './decode.ts';
export { type GeneratedCode, type GenerateOptions, type GenerateResult, generate } from './generate.ts';
export { type FoundPlace, findPlace, type PlaceFilter, type PlaceNotFound } from './geography/find-place.ts';
export { type IstatProvince, istatProvince } from './geography/istat-provinces.ts';
export type { PlaceMatch } from './geography/look-up-place.ts';
export type { Birthplace, Place, PlaceToday } from './geography/place.ts';
export {
  type NameSource,
  type PlaceWithHistory,
  type Successor,
  type SuccessorSource,
  searchPlaces,
} from './geography/search-places.ts';
export { type SuggestOptions, suggestPlaces } from './geography/suggest-places.ts';
export {
  beginningWith,
  type CapFrazioni,
  type CapPlace,
  type CapsResult,
  caps,
  cities,
  type ListedPlace,
  type Province,
  placeHistory,
  placesOfCap,
  provinces,
  type Region,
  regions,
} from './geography/territory.ts';
export {
  type KnownPerson,
  type Match,
  type MatchExtent,
  type MatchFailure,
  type MatchPart,
  type MatchPartName,
  match,
} from './match.ts';
export {
  type Language,
  type Messages,
  messages,
  type PlaceHint,
  translateFailure,
  translateFaults,
} from './messages.ts';
export { type OmocodiaDetail, type OmocodieResult, omocodie } from './omocodia.ts';
export type { Person, PersonWarning } from './person.ts';
export type { PersonFault, PersonFaultFacts, PersonFaultReason, PersonField } from './person-fault.ts';

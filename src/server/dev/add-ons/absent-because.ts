import type { DevAddOn } from '../../../contract/choices.ts';
import { hintOf, reasonOf } from '../../../contract/hint.ts';
import type { AbsentAddOn } from './add-on.ts';

/** Describes an add-on that cannot run because of this error. */
export function absentBecause(name: DevAddOn, error: Error): AbsentAddOn {
  return { name, reason: reasonOf(error), hint: hintOf(error) };
}

import type { DevAddOn } from '../../../contract/choices.ts';
import { hintOf, reasonOf } from '../../../contract/hint.ts';
import type { AbsentAddOn } from './add-on.ts';

/** The add-on as one that is not there, because of this error. */
export function absentBecause(name: DevAddOn, error: Error): AbsentAddOn {
  return { name, reason: reasonOf(error), hint: hintOf(error) };
}

import { DEV_ADD_ONS, type DevAddOn } from '../../../contract/choices.ts';
import { absentBecause } from './absent-because.ts';
import type { AbsentAddOn, AddOn } from './add-on.ts';

export type AddOnChoice = {
  /** Required add-ons: when one of them is missing nothing is started. */
  readonly required: readonly DevAddOn[];
  readonly unwanted: readonly DevAddOn[];
  /** Whether the other add-ons are started too, if possible. */
  readonly areOthersTried: boolean;
};

/** Finds the parts of an add-on. Rejects with what is missing and what to do. */
export type FindAddOn = (name: DevAddOn) => Promise<AddOn>;

export type ChosenAddOns = { readonly addOns: readonly AddOn[]; readonly absent: readonly AbsentAddOn[] };

/** Selects the add-ons to start, and those that cannot be started. Rejects when a required one cannot be started. */
export async function chooseAddOns(choice: AddOnChoice, find: FindAddOn): Promise<ChosenAddOns> {
  const { required, unwanted, areOthersTried } = choice;
  const addOns: AddOn[] = [];
  const absent: AbsentAddOn[] = [];
  for (const name of DEV_ADD_ONS) {
    const isRequired = required.includes(name);
    if (!isRequired && (unwanted.includes(name) || !areOthersTried)) continue;
    try {
      addOns.push(await find(name));
    } catch (error) {
      if (isRequired || !(error instanceof Error)) throw error;
      absent.push(absentBecause(name, error));
    }
  }
  return { addOns, absent };
}

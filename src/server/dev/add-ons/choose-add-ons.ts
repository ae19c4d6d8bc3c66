import { DEV_ADD_ONS, type DevAddOn } from '../../../contract/choices.ts';
import { absentBecause } from './absent-because.ts';
import type { AbsentAddOn, AddOn } from './add-on.ts';

export type AddOnChoice = {
  /** Those without which nothing is to run. */
  readonly required: readonly DevAddOn[];
  readonly unwanted: readonly DevAddOn[];
  /** Whether the others are started too where they can be. */
  readonly areOthersTried: boolean;
};

/** Finds what an add-on needs. Rejects with what it is missing, and what to do. */
export type FindAddOn = (name: DevAddOn) => Promise<AddOn>;

export type ChosenAddOns = { readonly addOns: readonly AddOn[]; readonly absent: readonly AbsentAddOn[] };

/** The add-ons to start, and those that cannot be. Rejects when a required one cannot be. */
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

import { slotOfCode } from './code-table.ts';
import { foreignCityBlock } from './data/foreign-cities.ts';
import { fold, folded, foldedLength } from './fold-name.ts';

/**
 * Returns the slot of the state that contains a well-known foreign city; -1 for any other name. Codes of people born abroad
 * contain the state.
 */
export const stateOfCity = (name: string): number => {
  fold(name);
  const letters = String.fromCharCode(...folded.subarray(0, foldedLength));
  states ??= readCities();
  return states.get(letters) ?? -1;
};

let states: ReadonlyMap<string, number> | undefined;

const readCities = (): Map<string, number> => {
  const read = new Map<string, number>();
  for (const line of foreignCityBlock().split('~')) {
    const slot = slotOfCode(line.slice(0, 4));
    for (const city of line.slice(4).split(',')) read.set(city.replace(/[^A-Z]/g, ''), slot);
  }
  return read;
};

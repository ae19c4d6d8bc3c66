import { slotOfCode } from './code-table.ts';
import { foreignCityBlock, territoryBlock } from './data/foreign-cities.ts';
import { fold, folded, foldedLength } from './fold-name.ts';

/**
 * Returns the slot of the state that contains a well-known foreign city; -1 for any other name. Codes of people born abroad
 * contain the state.
 */
export const stateOfCity = (name: string): number => {
  states ??= readNames(foreignCityBlock());
  return states.get(foldedName(name)) ?? -1;
};

/**
 * Returns the slot of the code that the tax office has used for a territory without a code of its own; -1 for any other
 * name.
 */
export const stateOfTerritory = (name: string): number => {
  territories ??= readNames(territoryBlock());
  return territories.get(foldedName(name)) ?? -1;
};

let states: ReadonlyMap<string, number> | undefined;
let territories: ReadonlyMap<string, number> | undefined;

const foldedName = (name: string): string => {
  fold(name);
  return String.fromCharCode(...folded.subarray(0, foldedLength));
};

const readNames = (block: string): Map<string, number> => {
  const read = new Map<string, number>();
  for (const line of block.split('~')) {
    const slot = slotOfCode(line.slice(0, 4));
    for (const city of line.slice(4).split(',')) read.set(city.replace(/[^A-Z]/g, ''), slot);
  }
  return read;
};

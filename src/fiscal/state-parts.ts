import { codeOfSlot, isInForce, slotOfCode } from './code-table.ts';

/**
 * Whether one state was part of the other on the date, or is another code of it. A birth in Zagabria in 1970 is registered
 * in Jugoslavia or in Croazia, and codes have either.
 */
export const areOneState = (first: number, second: number, date: number): boolean =>
  hasPart(first, second, date) || hasPart(second, first, date);

const hasPart = (whole: number, part: number, date: number): boolean =>
  isInForce(whole, date) && (PARTS[codeOfSlot(whole)] ?? []).some((code) => slotOfCode(code) === part);

/** The parts of a state, by the code of the whole. Soviet republics with two codes have both. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Z105: ['Z155', 'Z156'],
  Z118: ['Z148', 'Z149', 'Z150', 'Z153', 'Z157', 'Z158', 'Z159', 'Z160'],
  Z135: [
    ...[
      'Z137',
      'Z138',
      'Z139',
      'Z140',
      'Z141',
      'Z142',
      'Z143',
      'Z144',
      'Z145',
      'Z146',
      'Z147',
      'Z151',
      'Z152',
    ],
    ...['Z136', 'Z154', 'Z252', 'Z253', 'Z254', 'Z255', 'Z256', 'Z257', 'Z258', 'Z259'],
  ],
  Z157: ['Z158', 'Z159', 'Z160'],
  Z158: ['Z160'],
  Z210: ['Z221', 'Z231'],
  Z223: ['Z242'],
  Z236: ['Z249'],
  Z252: ['Z137'],
  Z253: ['Z141'],
  Z254: ['Z136'],
  Z255: ['Z152'],
  Z256: ['Z142'],
  Z257: ['Z147'],
  Z258: ['Z151'],
  Z259: ['Z143'],
  Z315: ['Z368'],
  Z348: ['Z907'],
};

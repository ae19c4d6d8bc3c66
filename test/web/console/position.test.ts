import { expect, it } from 'vitest';
import { describePosition } from '../../../src/web/console/parts/position.ts';

it.each([
  [-0.4, '0:00'],
  [0, '0:00'],
  [65.9, '1:05'],
  [3729, '1:02:09'],
])('%d seconds are shown as the position %s', (seconds, shown) => {
  expect(describePosition(seconds)).toBe(shown);
});

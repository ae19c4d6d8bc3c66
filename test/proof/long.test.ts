import { it } from 'vitest';
import { long } from '../../proof/load/long.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'days that pass leave no more rows than their retention, and delete nothing early',
  () => expectToHold(long),
  180_000,
);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { model } from '../../proof/model/model.ts';
import { PLANTED_FAULTS } from '../../proof/model/planted-faults.ts';
import { expectToHold } from './support/run-short.ts';

it('orders of recordings and deliveries break no rule', () => expectToHold(model), 60_000);

it('faults are planted in a place that their file has once', () => {
  const root = join(import.meta.dirname, '../..');
  const isUnplanted = ({ file, text }: { readonly file: string; readonly text: string }): boolean =>
    readFileSync(join(root, file), 'utf8').split(text).length !== 2;
  expect(PLANTED_FAULTS.filter(isUnplanted).map(({ name }) => name)).toEqual([]);
});

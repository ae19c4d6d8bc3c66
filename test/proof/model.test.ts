import { it } from 'vitest';
import { model } from '../../proof/model/model.ts';
import { expectToHold } from './support/run-short.ts';

it('orders of recordings and deliveries break no rule', () => expectToHold(model), 60_000);

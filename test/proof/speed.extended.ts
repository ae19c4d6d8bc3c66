import { it } from 'vitest';
import { speed } from '../../proof/load/speed.ts';
import { expectToHold } from './support/run-short.ts';

it('tokens, events and deliveries are answered and arrive once', () => expectToHold(speed), 120_000);

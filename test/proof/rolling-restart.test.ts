import { it } from 'vitest';
import { rollingRestart } from '../../proof/faults/rolling-restart.ts';
import { expectToHold } from './support/run-short.ts';

it('a restart of an instance behind HAProxy fails no request', () => expectToHold(rollingRestart), 120_000);

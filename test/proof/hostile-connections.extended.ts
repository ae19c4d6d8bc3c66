import { it } from 'vitest';
import { hostileConnections } from '../../proof/hostile/connections/connections.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'connections that smuggle, stall, flood or stay idle leave a well-behaved caller served',
  () => expectToHold(hostileConnections),
  120_000,
);

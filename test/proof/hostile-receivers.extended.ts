import { it } from 'vitest';
import { hostileReceivers } from '../../proof/hostile/receivers/receivers.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'hostile receivers of webhooks hold up no delivery to others, and the log describes their attempts',
  () => expectToHold(hostileReceivers),
  120_000,
);

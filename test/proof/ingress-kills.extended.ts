import { it } from 'vitest';
import { ingressKills } from '../../proof/faults/workers/ingress-kills.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a push is in its room again after its ingress worker was killed',
  () => expectToHold(ingressKills),
  400_000,
);

import { it } from 'vitest';
import { forbiddenAddresses } from '../../proof/hostile/addresses/addresses.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'webhooks with URLs of forbidden addresses open no connection to them',
  () => expectToHold(forbiddenAddresses),
  120_000,
);

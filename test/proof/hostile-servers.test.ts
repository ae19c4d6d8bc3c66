import { it } from 'vitest';
import { hostileServers } from '../../proof/hostile/servers/servers.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a command of the command line ends cleanly whatever a hostile server answers',
  () => expectToHold(hostileServers),
  60_000,
);

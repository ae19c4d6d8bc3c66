/**
 * `npm run house` prints figures about the code's shape beside the goals. Each line says how it was measured; its file
 * explains more. `--idle-seconds N` sets how long the idle service is watched (60); 0 leaves it out.
 */
import { parseArgs } from 'node:util';
import { countCliCalls } from './cli-calls.ts';
import { measureFolders } from './folders.ts';
import { countIdleStatements } from './idle-service.ts';
import { printFigures } from './print-figures.ts';
import { readSources } from './sources.ts';
import { measureSyntax } from './syntax.ts';
import { measureTests } from './tests.ts';
import { measureWalks } from './walks.ts';

const { values } = parseArgs({ options: { 'idle-seconds': { type: 'string', default: '60' } } });
const idleSeconds = Number(values['idle-seconds']);

const sources = readSources('src');
const tests = readSources('test');
printFigures([
  ...measureWalks(),
  ...(await countCliCalls()),
  ...measureFolders(),
  ...measureSyntax(sources),
  ...measureTests(sources, tests),
  ...(idleSeconds > 0 ? await countIdleStatements(idleSeconds) : []),
]);

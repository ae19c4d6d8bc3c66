/**
 * Searches with a planted fault: node search-planted.ts FAULT MOVES. Prints the first scenario that breaks a rule, as JSON.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PLANTED_FAULTS } from './planted-faults.ts';

const [name, maxSteps] = process.argv.slice(2);
const fault = PLANTED_FAULTS.find((each) => each.name === name);
if (fault === undefined) throw new Error(`there is no planted fault ${name}`);
const { file, text, replacement } = fault;
const path = join(import.meta.dirname, '..', '..', file);
const parts = readFileSync(path, 'utf8').split(text);
if (parts.length !== 2) throw new Error(`${file} contains the text ${parts.length - 1} times: ${text}`);
registerHooks({
  load: (url, context, nextLoad) =>
    url === pathToFileURL(path).href
      ? { format: 'module-typescript', source: parts.join(replacement), shortCircuit: true }
      : nextLoad(url, context),
});
const { firstViolation } = await import('./scenarios.ts');
const found = await firstViolation(fault.protocol, Number(maxSteps));
console.log(JSON.stringify(found ?? null));

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * What `npm run build` makes. A test that runs or reads it imports this module, so that `npm test -- FILE` knows that it has
 * to build first.
 */

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const DIST = `${ROOT}dist/`;
/** It imports the command line and the service from dist. */
export const LAUNCHER = `${ROOT}bin/rtc.js`;

if (!existsSync(`${DIST}cli/main.js`)) throw new Error('these tests run what is built: npm run build');

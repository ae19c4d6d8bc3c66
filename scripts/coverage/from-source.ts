import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Loaded by `--import` into a process of the built `rtc`: it makes the launcher import the source instead of the bundles, so
 * that what the process runs counts as branches of src.
 */

const root = join(import.meta.dirname, '..', '..');
const LAUNCHER = pathToFileURL(join(root, 'bin', 'rtc.js')).href;
const BUILT = /\/dist\/((?:cli|server)\/[a-z-]+)\.js$/;

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const [, entry] = context.parentURL === LAUNCHER ? (BUILT.exec(specifier) ?? []) : [];
    return entry === undefined
      ? nextResolve(specifier, context)
      : nextResolve(pathToFileURL(join(root, 'src', `${entry}.ts`)).href, context);
  },
});

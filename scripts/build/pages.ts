import { join } from 'node:path';
import { build } from 'vite';
import { ROOT } from './output.ts';

/**
 * The browser pages of src/web, which the command line serves. The names of assets carry a hash of their content, so that
 * a browser may keep them. Nothing comes from another host, and no script or style is inline, as the pages' content
 * security policy demands. Resolves to the ids of the bundled modules.
 */
export async function buildPages(out: string): Promise<readonly string[]> {
  const modules = new Set<string>();
  await build({
    configFile: false,
    logLevel: 'error',
    root: join(ROOT, 'src/web/room'),
    base: './',
    plugins: [
      {
        name: 'remember-modules',
        moduleParsed: ({ id }) => {
          modules.add(id);
        },
      },
    ],
    oxc: { jsx: { runtime: 'automatic' } },
    build: {
      outDir: join(out, 'web', 'room'),
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2_000,
    },
  });
  return [...modules];
}

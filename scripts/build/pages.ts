import { join } from 'node:path';
import { build } from 'vite';
import { ROOT } from './output.ts';

/** The address that a page's assets are under: those of the console are asked for from views of any depth. */
const PAGES = { room: './', console: '/' } as const;

/**
 * The browser pages of src/web, which the command line serves. The names of assets carry a hash of their content, so that
 * a browser may keep them. Nothing comes from another host, and no script or style is inline, as the pages' content
 * security policy demands. Resolves to the ids of the bundled modules.
 */
export async function buildPages(out: string): Promise<readonly string[]> {
  const modules = new Set<string>();
  for (const [page, base] of Object.entries(PAGES)) await buildPage({ page, base, out, modules });
  return [...modules];
}

type PageBuild = {
  readonly page: string;
  readonly base: string;
  readonly out: string;
  readonly modules: Set<string>;
};

async function buildPage({ page, base, out, modules }: PageBuild): Promise<void> {
  const rememberModules = {
    name: 'remember-modules',
    moduleParsed: ({ id }: { readonly id: string }) => {
      modules.add(id);
    },
  };
  await build({
    configFile: false,
    logLevel: 'error',
    root: join(ROOT, 'src/web', page),
    base,
    plugins: [rememberModules],
    worker: { format: 'es', plugins: () => [rememberModules] },
    oxc: { jsx: { runtime: 'automatic' } },
    build: {
      outDir: join(out, 'web', page),
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2_000,
    },
  });
}

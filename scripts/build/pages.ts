import { dirname, join } from 'node:path';
import { build, type Plugin } from 'vite';
import { ROOT } from './output.ts';

/** The base address of a page's assets. The console requests them from URLs of any depth. */
const PAGES = { room: './', console: '/' } as const;

/**
 * Builds the pages of src/web, which the command line serves. The names of assets contain a hash of their content, so that
 * a browser may keep them. Nothing is loaded from another host, and no script or style is inline, because the pages'
 * content security policy forbids both. Resolves to the ids of the bundled modules.
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
    plugins: [workersOfPage(), rememberModules],
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

/**
 * Makes the workers of a page entries of the same bundle, so that the page and its workers load what they share once. Vite
 * bundles each worker by itself.
 */
function workersOfPage(): Plugin {
  return {
    name: 'workers-of-page',
    enforce: 'pre',
    transform(code, id) {
      return code.replace(WORKER, (_, path: string) => {
        const reference = this.emitFile({ type: 'chunk', id: join(dirname(id), path) });
        return `new Worker(import.meta.ROLLUP_FILE_URL_${reference}`;
      });
    },
  };
}

const WORKER = /new Worker\(new URL\('(\.\/[^']+)', import\.meta\.url\)/g;

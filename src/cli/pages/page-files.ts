import { existsSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { CliError, EXIT } from '../errors/cli-error.ts';

export type PageFile = { readonly body: Buffer; readonly contentType: string; readonly cacheControl: string };

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Reads a built page, by request path. `launcher` is the file of the `rtc` command, beside which the package is. */
export async function readPageFiles(
  launcher: string,
  page: 'room' | 'console',
): Promise<ReadonlyMap<string, PageFile>> {
  const folder = join(dirname(await realpath(launcher)), '..', 'dist', 'web', page);
  if (!existsSync(join(folder, 'index.html'))) {
    throw new CliError(EXIT.failure, `the page of the ${page} is not built`, 'build it: npm run build');
  }
  const names = (await readdir(join(folder, 'assets'))).map((name) => `assets/${name}`);
  const files = await Promise.all(
    ['index.html', ...names].map(async (name): Promise<[string, PageFile]> => {
      const isPage = name === 'index.html';
      const contentType = CONTENT_TYPES[extname(name)] ?? 'application/octet-stream';
      // The names of assets contain a hash of their content.
      const cacheControl = isPage ? 'no-store' : 'public, max-age=31536000, immutable';
      return [
        isPage ? '/' : `/${name}`,
        { body: await readFile(join(folder, name)), contentType, cacheControl },
      ];
    }),
  );
  return new Map(files);
}

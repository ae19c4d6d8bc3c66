import { existsSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { reasonPhrase } from '../../contract/errors.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';

export type PageResponse = {
  readonly status: number;
  /** A stream is closed when the browser disconnects. */
  readonly body?: string | Buffer | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
};

type FurtherMembers = {
  readonly hint?: { readonly text: string };
  /** Code and end of what the service refused, for a page that tells it in its own words. */
  readonly code?: string;
  readonly until?: unknown;
};

/** A problem (RFC 9457), like the service's own errors. */
export function problem(status: number, detail: string, further: FurtherMembers = {}): PageResponse {
  return {
    ...jsonResponse(status, { type: 'about:blank', title: reasonPhrase(status), status, detail, ...further }),
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  };
}

export function jsonResponse(status: number, value: unknown): PageResponse {
  return {
    status,
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  };
}

/** The origins that a page may connect to beside its own server, and the browser permissions that it needs. */
type PageNeeds = { readonly connect: readonly string[]; readonly permissions: string };

/** Headers of every response: a page runs only its own code, and connects only to its own server and to `connect`. */
export function pageHeaders({ connect, permissions }: PageNeeds): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      ["connect-src 'self'", ...connect].join(' '),
      "worker-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': permissions,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

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

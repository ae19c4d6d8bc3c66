import { RtcError } from '../rtc-error.ts';
import type { HttpResponse } from './fetch-exchange.ts';
import { parseUrl } from './request-parts.ts';
import type { Transport } from './transport.ts';

export type DownloadOptions = {
  /** Number of bytes that the caller has already; the download continues after them. Default 0. */
  readonly from?: number;
  /** Also ends the reading of the body. */
  readonly signal?: AbortSignal;
};

export type Download = {
  /** Offset of `body` in the file, in bytes: `from`, or 0 when the server sends the whole file nevertheless. */
  readonly start: number;
  /** Size of the whole file; undefined when the response does not contain it. */
  readonly sizeBytes: number | undefined;
  /** Read it to its end, or leave the loop early. Throws RtcError when the transfer is interrupted. */
  readonly body: AsyncIterable<Uint8Array>;
};

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Downloads from the service, or from the address that it redirects to, without our signature. A second redirect is an
 * error.
 */
export async function download(
  transport: Transport,
  path: string,
  { from = 0, signal }: DownloadOptions = {},
): Promise<Download> {
  const headers = from === 0 ? {} : { range: `bytes=${from}-` };
  const first = await transport.open(path, { headers, signal });
  if (!REDIRECTS.includes(first.status)) return await toDownload(first, { from, path });
  await first.body.cancel();
  const url = readRedirect(first, path);
  const second = await transport.openForeign(url, { headers, signal });
  return await toDownload(second, { from, path: url.pathname });
}

function readRedirect({ status, headers }: HttpResponse, path: string): URL {
  const url = parseUrl(headers.location ?? '');
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw toUnexpectedError(path, status, 'a redirect to nowhere');
}

type Source = { readonly from: number; readonly path: string };

async function toDownload(response: HttpResponse, { from, path }: Source): Promise<Download> {
  const { status, headers, body } = response;
  if (status === 200) {
    const length = headers['content-length'];
    return { start: 0, sizeBytes: length === undefined ? undefined : Number(length), body };
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
  if (status === 206 && Number(range?.[1]) === from) {
    const size = range?.[2];
    return { start: from, sizeBytes: size === undefined || size === '*' ? undefined : Number(size), body };
  }
  await body.cancel();
  throw toUnexpectedError(path, status, 'no file');
}

function toUnexpectedError(path: string, status: number, what: string): RtcError {
  const detail = `the download got ${status} with ${what}`;
  return new RtcError({ method: 'GET', path, code: 'unexpected-answer', status, detail });
}

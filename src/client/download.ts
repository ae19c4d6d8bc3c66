import type { Download, DownloadOptions } from './call-options.ts';
import type { HttpResponse } from './http-exchange.ts';
import { RtcError } from './rtc-error.ts';
import { parseUrl } from './service-url.ts';
import type { Transport } from './transport.ts';

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** From the service itself, or, where it redirects, from there: without our signature, and no further. */
export async function download(
  transport: Transport,
  path: string,
  { from = 0, signal }: DownloadOptions = {},
): Promise<Download> {
  const headers = from === 0 ? {} : { range: `bytes=${from}-` };
  const first = await transport.open(path, { headers, signal });
  if (!REDIRECTS.includes(first.status)) return toDownload(transport, { from, path, signal }, first);
  first.discard();
  const url = targetOf(first, path);
  const second = await transport.openForeign(url, { headers, signal });
  return toDownload(transport, { from, path: url.pathname, signal, origin: url.origin }, second);
}

function targetOf({ status, headers }: HttpResponse, path: string): URL {
  const url = parseUrl(headers.location ?? '');
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw unexpected(path, status, 'a redirect to nowhere');
}

type Source = {
  readonly from: number;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly origin?: string;
};

function toDownload(transport: Transport, source: Source, response: HttpResponse): Download {
  const { status, headers } = response;
  const body = readBody(transport, source, response);
  if (status === 200) {
    const length = headers['content-length'];
    return { start: 0, sizeBytes: length === undefined ? undefined : Number(length), body };
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers['content-range']));
  if (status === 206 && Number(range?.[1]) === source.from) {
    const size = range?.[2];
    return {
      start: source.from,
      sizeBytes: size === undefined || size === '*' ? undefined : Number(size),
      body,
    };
  }
  response.discard();
  throw unexpected(source.path, status, 'no file');
}

async function* readBody(
  transport: Transport,
  { path, signal, origin = 'the service' }: Source,
  { body }: HttpResponse,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw transport.explain(cause, { method: 'GET', path }, { origin, signal });
  }
}

function unexpected(path: string, status: number, what: string): RtcError {
  const detail = `the download was answered ${status} with ${what}`;
  return new RtcError({ method: 'GET', path, code: 'unexpected-answer', status, detail });
}

import type { Dispatcher } from 'undici';
import type { Download, DownloadOptions } from './call-options.ts';
import { RtcError } from './rtc-error.ts';
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
  if (!REDIRECTS.includes(first.statusCode)) return toDownload(transport, { from, path, signal }, first);
  await first.body.dump();
  const url = targetOf(first, path);
  const second = await transport.openForeign(url, { headers, signal });
  return toDownload(transport, { from, path: url.pathname, signal, origin: url.origin }, second);
}

function targetOf({ statusCode, headers }: Dispatcher.ResponseData, path: string): URL {
  const url = URL.parse(String(headers.location));
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw unexpected(path, statusCode, 'a redirect to nowhere');
}

type Source = {
  readonly from: number;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly origin?: string;
};

function toDownload(transport: Transport, source: Source, response: Dispatcher.ResponseData): Download {
  const { statusCode, headers } = response;
  const body = readBody(transport, source, response);
  if (statusCode === 200) {
    const length = headers['content-length'];
    return { start: 0, sizeBytes: length === undefined ? undefined : Number(length), body };
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers['content-range']));
  if (statusCode === 206 && Number(range?.[1]) === source.from) {
    const size = range?.[2];
    return {
      start: source.from,
      sizeBytes: size === undefined || size === '*' ? undefined : Number(size),
      body,
    };
  }
  response.body.on('error', () => undefined).destroy();
  throw unexpected(source.path, statusCode, 'no file');
}

async function* readBody(
  transport: Transport,
  { path, signal, origin = 'the service' }: Source,
  { body }: Dispatcher.ResponseData,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) yield chunk;
  } catch (cause) {
    throw transport.explain(cause, { method: 'GET', path }, { origin, signal });
  }
}

function unexpected(path: string, status: number, what: string): RtcError {
  const detail = `the download was answered ${status} with ${what}`;
  return new RtcError({ method: 'GET', path, code: 'unexpected-answer', status, detail });
}

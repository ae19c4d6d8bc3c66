import type { RtcClient } from '../../../client/client.ts';
import type { ServiceResponse } from '../../../client/client-options.ts';
import { type PageResponse, problem } from '../../pages/page-response.ts';
import { type ConsoleCall, errorResponse, readOnlyProblem } from './console-calls.ts';
import type { ConsoleTarget } from './console-target.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Time limit: a long poll lasts 25 s, a recorder may take as long to start, and the request itself takes time. */
const TIMEOUT_MS = 45_000;
/** Headers of the service's response that the page or the browser reads. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'x-room-existed', 'x-room-ignored'];

const RECORDING_FILE = /^\/api\/v1\/recordings\/([^/?]+)\/file(\?download)?$/;

/** Signs `/api/v1/…` and forwards it as `/v1/…`. */
export async function forwardToService(target: ConsoleTarget, call: ConsoleCall): Promise<PageResponse> {
  const { method, url, body, signal } = call;
  if (!METHODS.includes(method)) return problem(405, 'This method is not served here.');
  if (target.info.isReadOnly && method !== 'GET') return readOnlyProblem();
  const path = url.slice('/api'.length);
  if (!path.startsWith('/v1/')) return problem(404, 'Only /v1 is behind the console.');
  try {
    const file = RECORDING_FILE.exec(url);
    if (method === 'GET' && file !== null) {
      return await playRecording(target.client, {
        id: decodeURIComponent(file[1] ?? ''),
        isDownload: file[2] !== undefined,
        range: call.range,
        signal,
      });
    }
    const response = await target.client.request(method, path, {
      ...(body === '' ? {} : { body }),
      signal,
      timeoutMs: TIMEOUT_MS,
      maxAttempts: 1,
    });
    return passOn(response);
  } catch (error) {
    return errorResponse(error);
  }
}

function passOn({ status, headers, body }: ServiceResponse): PageResponse {
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { status, body, headers: { ...Object.fromEntries(passed), 'cache-control': 'no-store' } };
}

type Playing = {
  readonly id: string;
  /** Whether the browser saves the file instead of playing it. */
  readonly isDownload: boolean;
  /** The browser's Range header, with which it seeks. */
  readonly range: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * Sends the file of a recording from the service or from its bucket. The browser sees neither address: its policy lets it
 * load only from this server, and a signed address would be in its history.
 */
async function playRecording(
  client: Pick<RtcClient, 'recordings'>,
  { id, isDownload, range, signal }: Playing,
): Promise<PageResponse> {
  const wanted = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
  const from = Number(wanted?.[1] ?? 0);
  const { file } = await client.recordings.get(id, { signal });
  const { start, sizeBytes, body } = await client.recordings.download(id, { from, signal });
  const name = file?.path.split('/').at(-1) ?? `${id}.mp4`;
  const headers = {
    'content-type': typeOf(name),
    'content-disposition': `${isDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeURIComponent(name)}`,
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
  };
  if (sizeBytes === undefined) return { status: 200, body, headers };
  if (wanted === null || start !== from) {
    return { status: 200, body, headers: { ...headers, 'content-length': String(sizeBytes - start) } };
  }
  const last = wanted[2] === '' ? sizeBytes - 1 : Math.min(Number(wanted[2]), sizeBytes - 1);
  return {
    status: 206,
    body: firstBytes(body, last - from + 1),
    headers: {
      ...headers,
      'content-length': String(last - from + 1),
      'content-range': `bytes ${from}-${last}/${sizeBytes}`,
    },
  };
}

async function* firstBytes(body: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let remaining = count;
  for await (const chunk of body) {
    yield chunk.length > remaining ? chunk.subarray(0, remaining) : chunk;
    remaining -= chunk.length;
    // Leaving the loop ends the transfer.
    if (remaining <= 0) return;
  }
}

function typeOf(name: string): string {
  const types: Readonly<Record<string, string>> = {
    mp4: 'video/mp4',
    webm: 'video/webm',
    ogg: 'audio/ogg',
    mp3: 'audio/mpeg',
    m4a: 'audio/mp4',
  };
  return types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}

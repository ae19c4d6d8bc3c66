import type { RtcClient } from '../../../client/client.ts';
import type { PageResponse } from '../../pages/page-response.ts';

export type Playing = {
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
export async function playRecording(
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

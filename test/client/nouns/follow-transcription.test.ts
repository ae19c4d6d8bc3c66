import { afterEach, describe, expect, it } from 'vitest';
import { RtcClient } from '../../../src/client/index.ts';
import { json, problem, startHttpServer, type TestHttpServer } from '../../cli/support/http-server.ts';

const START_MS = Date.parse('2026-01-31T09:30:00.000Z');

let server: TestHttpServer | undefined;
afterEach(() => server?.close());

const segment = (id: string, endSeconds: number) => ({
  id,
  text: id,
  endedAt: new Date(START_MS + endSeconds * 1000).toISOString(),
});

const transcription = (
  status: 'active' | 'stopped' | 'failed',
  segments: readonly object[],
  transcriptionId = 'tr_1',
) => ({
  transcriptionId,
  status,
  segments,
});

/** Returns the items of the iteration for these responses, and all pauses that it made. */
async function followed(responses: readonly (object | number)[], since?: string) {
  const pauses: number[] = [];
  const news: string[] = [];
  server = await startHttpServer((_request, response, nth) => {
    const step = responses[nth - 1] ?? 500;
    if (typeof step === 'number') problem(response, step, 'shutting-down');
    else json(response, 200, step);
  });
  const client = new RtcClient({
    ...{ url: server.url, apiKey: 'k', apiSecret: 's', maxAttempts: 1, random: () => 1 },
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  const ids: string[] = [];
  const ends: unknown[] = [];
  const options = {
    onEnd: (transcription: unknown) => ends.push(transcription),
    ...(since === undefined ? {} : { since }),
    onInterruption: () => news.push('away'),
    onResumption: () => news.push('back'),
  };
  for await (const { id } of client.transcription.follow('demo', options)) ids.push(id);
  await client.close();
  return { ids, ends, pauses, news, asked: server.received.map(({ url }) => url) };
}

describe('followTranscription', () => {
  it('ends with a transcription that has failed, and passes it on', async () => {
    const failed = {
      ...transcription('failed', [segment('a', 1)]),
      error: { code: 'worker-lost', message: '' },
    };
    const { ids, ends } = await followed([transcription('active', []), failed]);
    expect(ids).toEqual(['a']);
    expect(ends).toMatchObject([{ status: 'failed', error: { code: 'worker-lost' } }]);
  });

  it('leaves out interim results until they are final', async () => {
    const { ids } = await followed([
      transcription('active', [segment('a', 1), { ...segment('b', 2), final: false }]),
      transcription('stopped', [segment('a', 1), { ...segment('b', 2.5), final: true }]),
    ]);
    expect(ids).toEqual(['a', 'b']);
  });

  it('yields each segment once, until the transcription is stopped', async () => {
    const { ids, pauses } = await followed([
      transcription('active', [segment('a', 1)]),
      transcription('active', [segment('a', 1), segment('b', 2)]),
      transcription('stopped', [segment('b', 2), segment('c', 1.5)]),
    ]);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(pauses).toEqual([500, 500]);
  });

  it('waits at the service for the next segment, and pauses only when the wait ends early without one', async () => {
    const at = (nextCursor: string, segments: readonly object[]) => ({
      ...transcription('active', segments),
      nextCursor,
    });
    const { ids, pauses, asked } = await followed([
      at('c1', [segment('a', 1)]),
      at('c2', [segment('b', 2), { ...segment('c', 3), final: false }]),
      at('c2', [{ ...segment('c', 3), final: false }]),
      { ...transcription('stopped', [segment('c', 3)]), nextCursor: 'c3' },
    ]);
    expect(ids).toEqual(['a', 'b', 'c']);
    const path = '/v1/rooms/demo/transcription';
    expect(asked).toEqual([path, ...['c1', 'c2', 'c2'].map((cursor) => `${path}?cursor=${cursor}&wait=25`)]);
    expect(pauses).toEqual([500]);
  });

  it('waits for an unavailable service, longer each time', async () => {
    const { ids, pauses, news } = await followed([
      transcription('active', [segment('a', 1)]),
      503,
      503,
      transcription('stopped', [segment('b', 2)]),
    ]);
    expect(ids).toEqual(['a', 'b']);
    expect(news).toEqual(['away', 'back']);
    expect(pauses).toEqual([500, 250, 500]);
  });

  it('yields the remaining segments of a stopped transcription when another one is running', async () => {
    const { ids, asked } = await followed([
      transcription('active', [segment('a', 1)]),
      transcription('active', [segment('x', 9)], 'tr_2'),
      transcription('stopped', [segment('a', 1), segment('b', 2)]),
    ]);
    expect(ids).toEqual(['a', 'b']);
    expect(asked.at(-1)).toBe('/v1/transcriptions/tr_1');
  });

  it('yields nothing that ended at since or before, even with overlapping reads', async () => {
    const since = segment('', 2).endedAt;
    const { ids } = await followed(
      [
        transcription('active', [segment('c', 2.001)]),
        transcription('stopped', [segment('a', 1), segment('b', 2), segment('c', 2.001), segment('d', 3)]),
      ],
      since,
    );
    expect(ids).toEqual(['c', 'd']);
  });
});

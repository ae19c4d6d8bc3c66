import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../../support/http-server.ts';
import { run } from '../../support/run.ts';

let server: TestHttpServer;
let cursorAt: (count: number) => string;
beforeAll(async () => {
  server = await startHttpServer((_request, response, count) =>
    json(response, 200, {
      recordings: [],
      transcriptions: [],
      deliveries: [],
      nextCursor: cursorAt(count),
    }),
  );
});
afterAll(() => server.close());

describe('a server with an endless list', () => {
  it.each(
    ['recordings list', 'transcriptions list', 'webhooks deliveries wh_1'].flatMap((line) => [
      [line, 'one cursor for ever', () => 'same'] as const,
      [line, 'two cursors in turn', (count: number) => `turn-${count % 2}`] as const,
    ]),
  )('ends %s with an error when it repeats %s', async (line, _what, at) => {
    cursorAt = at;
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { code, stderr } = await run(line.split(' '), { env });
    expect(code).toBe(1);
    expect(stderr).toContain('the service repeated a cursor');
  });
});

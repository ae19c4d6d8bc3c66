import { afterEach, describe, expect, it } from 'vitest';
import { json, problem, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { run } from '../support/run.ts';

const START_MS = Date.parse('2026-01-31T09:30:00.000Z');

let server: TestHttpServer | undefined;
afterEach(() => server?.close());

const segment = (id: string, startSeconds: number, speaker: string | null) => ({
  id,
  speaker,
  participantIdentity: speaker === null ? null : speaker.toLowerCase(),
  text: `words of ${id}`,
  start: startSeconds,
  endedAt: new Date(START_MS + startSeconds * 1000).toISOString(),
  final: true,
});

const transcription = (status: string, segments: readonly object[], more: object = {}) => ({
  transcriptionId: 'tr_1',
  status,
  segments,
  nextCursor: 'next',
  ...more,
});

/** Runs `rtc transcription follow demo` with these responses, one after the other. A number is the status of a problem. */
async function follow(responses: readonly (object | number)[], options: Parameters<typeof run>[1] = {}) {
  const words = ['transcription', 'follow', 'demo'];
  server = await startHttpServer((_request, response, nth) => {
    const step = responses[nth - 1] ?? 500;
    if (typeof step === 'number') problem(response, step, 'shutting-down');
    else json(response, 200, step);
  });
  const env = { RTC_URL: server.url, RTC_API_KEY: 'key', RTC_API_SECRET: 'secret', ...options.env };
  return {
    plain: () => run(words, { ...options, env }),
    withFields: (fields: string) => run([...words, '--json', fields], { ...options, env }),
  };
}

describe('rtc transcription follow', () => {
  it('prints a line for each segment on a terminal, and its end', async () => {
    const { plain } = await follow(
      [
        transcription('active', [segment('a', 5, 'Ada'), segment('b', 3723, null)]),
        transcription('stopped', [segment('c', 3724, 'Ben\u001b[2J')]),
      ],
      { terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1', TERM: 'xterm' } },
    );
    const { code, stdout, stderr } = await plain();
    expect(code).toBe(0);
    expect(stdout).toBe(' 0:05  Ada: words of a\n1:02:03  words of b\n1:02:04  Ben\\u001b[2J: words of c\n');
    expect(stderr).toContain('Following. Press Ctrl-C to end.');
    expect(stderr).toContain('The transcription is over: 3 segments.');
  });

  it('gives each speaker a colour, which stays when the speaker is renamed', async () => {
    const renamed = { ...segment('c', 3, 'Ada'), speaker: 'Ada Lovelace' };
    const { plain } = await follow(
      [transcription('stopped', [segment('a', 1, 'Ada'), segment('b', 2, 'Ben'), renamed])],
      { terminals: ['stdout', 'stderr'], env: { TERM: 'xterm-256color' } },
    );
    const [ada, ben, again] = (await plain()).stdout.split('\n').map((line) => {
      const [, paint] = /(\u001b\[[\d;]*m)(?:Ada|Ben)/.exec(line) ?? [];
      return paint;
    });
    expect(ada).toBeDefined();
    expect(ben).not.toBe(ada);
    expect(again).toBe(ada);
  });

  it('prints an object for each segment into a pipe, with the wanted fields', async () => {
    const ended = transcription('stopped', [segment('a', 5, 'Ada')]);
    const { plain, withFields } = await follow([ended, ended]);
    expect(JSON.parse((await plain()).stdout)).toEqual(segment('a', 5, 'Ada'));
    expect((await withFields('speaker,text')).stdout).toBe('{"speaker":"Ada","text":"words of a"}\n');
  });

  it('waits for a service that goes away, and says so', async () => {
    const { plain } = await follow(
      // The client itself sends a request that was refused like this three times.
      [transcription('active', []), 503, 503, 503, transcription('stopped', [segment('a', 5, 'Ada')])],
      { terminals: ['stderr'] },
    );
    const { code, stdout, stderr } = await plain();
    expect([code, stdout.split('\n').length]).toEqual([0, 2]);
    expect(stderr).toMatch(
      /detail of shutting-down.*; waiting for it\n.*The service is back; nothing was missed\./s,
    );
  });

  it('fails with the error of the transcription', async () => {
    const error = { code: 'worker-lost', message: 'three workers ended' };
    const { plain } = await follow([transcription('active', []), transcription('failed', [], { error })]);
    const { code, stderr } = await plain();
    expect(code).toBe(1);
    expect(stderr).toContain('the transcription has failed: three workers ended');
    expect(stderr).toContain('rtc transcription start demo');
  });
});

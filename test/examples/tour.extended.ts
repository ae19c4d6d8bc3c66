import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../cli/support/process.ts';
import '../support/parts/ffmpeg.ts';
import '../support/parts/livekit.ts';
import '../support/parts/recorder.ts';
import '../support/parts/redis.ts';
import { speechRecordings } from '../support/parts/speech-model.ts';

/* Runs the tour for operators with real parts: LiveKit, its recorder, the room client and a speech model. */

const TOUR = join(import.meta.dirname, '..', '..', 'examples', 'tour', 'tour.sh');
const run = promisify(execFile);

describe('the tour for operators', () => {
  let temporary: string;
  let stdout: string;
  let stderr: string;
  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'rtc-tour-'));
    const env = { ...process.env, TMPDIR: temporary };
    ({ stdout, stderr } = await run(TOUR, [speechRecordings().beckett.path], { env, timeout: 600_000 }));
  }, 600_000);
  afterAll(() => rm(temporary, { recursive: true, force: true }));

  const step = (title: string): string => {
    const text = stdout.split('\n== ').find((each) => each.startsWith(title));
    if (text === undefined) throw new Error(`the tour has no step ${title}: ${stdout}`);
    return text;
  };

  it('never pauses', async () => {
    expect(await readFile(TOUR, 'utf8')).not.toMatch(/^\s*(?:sleep|timeout)\b/m);
  });

  it('waits until two people publish', () => {
    expect(step('Make a room')).toMatch(/PUBLISHERS\t(?:ada, bob|bob, ada)\n/);
  });

  it('shows that a blocked participant is removed and stays out', () => {
    const text = step('Block one of them');
    expect(text).toMatch(/\(exit code 7\).*PARTICIPANTS\tada\n.*\(exit code 4\)\nbob\t/s);
    expect(text.split('\n').filter((line) => /^(?:ada|bob)\t.*ACTIVE/.test(line))).toEqual([
      expect.stringMatching(/^ada\t/),
    ]);
    expect(stderr).toContain('"bob" is blocked in room "demo"');
  });

  it('downloads the file of a recording', () => {
    expect(step('Record')).toMatch(/STATUS\tstopped/);
  });

  it('reads the transcript', () => {
    expect(step('Transcribe it')).toMatch(/completed/);
    // The small model mishears sentences, and more of them if a busy machine recorded them with gaps.
    const sentences = ['ever tried', 'ever failed', 'no matter', 'try again', 'fail again', 'fail better'];
    const lines = step('Transcribe it').toLowerCase();
    const heard = sentences.filter((sentence) => lines.includes(sentence));
    expect(heard.length, lines).toBeGreaterThanOrEqual(2);
    expect(lines).toMatch(/^\[\d\d:\d\d:\d\d\] ada: /m);
  });

  it('receives the events', () => {
    const text = step('Explain');
    for (const what of ['bob was blocked', 'bob was removed by the API', 'recording'])
      expect(text).toContain(what);
  });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { transcriptResponse } from '../../../src/server/transcription/transcript-response.ts';
import { runFfmpeg } from '../../support/parts/ffmpeg.ts';

const SPEAKER = '<Ada>';
const TEXT = 'is <b>bold</b>, {\\an8}up, {y:i}, 1 < 2 & 3 > 2, <font color="red">';

function readSubRip(): string {
  const segment = { id: 's', speaker: SPEAKER, text: TEXT, start: 1, end: 2, final: true };
  const { body } = transcriptResponse({ segments: [segment] as never, nextCursor: null }, { format: 'srt' });
  return String(body);
}

it('a transcript as SubRip shows what was said, and takes none of it for markup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-srt-'));
  try {
    const [srt, mp4, shown] = ['a.srt', 'a.mp4', 'b.srt'].map((name) => join(folder, name));
    await writeFile(srt ?? '', readSubRip());
    // As subtitles of a recording's file, as a player reads them.
    await runFfmpeg(['-i', srt ?? '', '-c:s', 'mov_text', mp4 ?? '']);
    await runFfmpeg(['-i', mp4 ?? '', shown ?? '']);
    const text = (await readFile(shown ?? '', 'utf8')).replaceAll('\u2060', '');
    expect(text.split('\n')[2]).toBe(`${SPEAKER}: ${TEXT}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

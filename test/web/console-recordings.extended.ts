import { copyFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RtcClient } from '../../src/client/client.ts';
import { loadConfig } from '../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../src/server/platform/clock.ts';
import { type RunningWorker, startWorker } from '../../src/server/worker.ts';
import { type MediaFiles, makeMediaFiles } from '../server/transcription/audio/media-files.ts';
import {
  segment,
  startTranscriptionStage,
  type TranscriptionStage,
} from '../server/transcription/support/transcription-stage.ts';
import { collectingLog } from '../support/app.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import { testSpeech } from '../support/test-speech.ts';
import {
  confirm,
  expectAccessible,
  type OpenedConsole,
  openConsole,
  openView,
  readView,
} from './support/console.ts';

/** Twenty seconds of a test picture, with a tone of two seconds at 0, 5, 10 and 15. Each tone is a sentence. */
const FOUR_SENTENCES = [
  ...['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=10'],
  ...['-f', 'lavfi', '-i', 'aevalsrc=if(lt(mod(t\\,5)\\,2)\\,0.4*sin(440*2*PI*t)\\,0)'],
  ...['-t', '20', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
  ...['-movflags', '+faststart'],
];
const SENTENCES = ['Good morning.', 'The meeting begins.', 'We are late.', 'Thank you all.'];

describe('recordings and transcriptions in the console', () => {
  let stage: TranscriptionStage;
  let media: MediaFiles;
  let worker: RunningWorker;
  let browser: TestBrowser;
  let console: OpenedConsole;
  let client: RtcClient;
  let film: string;

  beforeAll(async () => {
    media = await makeMediaFiles();
    film = await media.make('film.mp4', FOUR_SENTENCES);
    stage = await startTranscriptionStage();
    await stage.beat('stt-live', ['en']);
    const settings = {
      API_KEY: 'k',
      API_SECRET: 's',
      DATA_DIR: stage.dataDir,
      RECORDING_DIR: stage.recordingDir,
    };
    const left = [...SENTENCES];
    const speech = testSpeech({ recognise: () => left.shift() ?? 'And so on.' });
    const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
    worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-post', speech });
    client = new RtcClient(stage.service);
    browser = await startBrowser();
    console = await openConsole(stage.service);
  });

  afterAll(async () => {
    await browser?.close();
    await console?.close();
    await client?.close();
    await worker?.close();
    await stage?.close();
    await media?.remove();
  });

  const record = async (room: string): Promise<string> => {
    const { file, recordingId } = await stage.recordWhole(room);
    await copyFile(film, file?.path ?? '');
    return recordingId;
  };

  const readPosition = (page: Page): Promise<number> =>
    page.evaluate("document.querySelector('video').currentTime");

  it('plays a recording, transcribes it, and follows the text', async () => {
    await record('keynote');
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Recordings' }).click();
    await page.getByRole('link', { name: 'keynote' }).click();
    await page.getByText('No transcript').waitFor();
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await confirm(page, 'Transcribe');
    await page.getByRole('button', { name: 'We are late.' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'We are late.' }).click();
    await expect.poll(() => readPosition(page)).toBeGreaterThan(9.5);
    await expect
      .poll(() => page.getByRole('button', { name: 'We are late.' }).getAttribute('aria-current'))
      .toBe('true');
    await page.evaluate("document.querySelector('video').currentTime = 15.5");
    await expect
      .poll(() => page.getByRole('button', { name: 'Thank you all.' }).getAttribute('aria-current'))
      .toBe('true');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('seeks in a file without loading the part before', async () => {
    const recordingId = await record('ranges');
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, `/recordings/${recordingId}`));
    const video = page.locator('video[src]');
    await video.waitFor();
    const address = await video.getAttribute('src');
    const ranged = await page.evaluate(
      `fetch('${address}', { headers: { range: 'bytes=100-199' } }).then(async (r) =>
        [r.status, r.headers.get('content-range'), (await r.arrayBuffer()).byteLength])`,
    );
    expect(ranged).toEqual([206, expect.stringMatching(/^bytes 100-199\/\d+$/), 100]);
    await window.close();
  });

  it('downloads and deletes a recording, and filters by room and state', async () => {
    const recordingId = await record('seminar');
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/recordings'));
    await page.getByLabel('Only recordings of this room').fill('seminar');
    await page.getByText('rtc recordings list --room seminar').waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Only recordings in this state').selectOption('failed');
    await page.getByText('No recording is like that').waitFor();
    await page.getByLabel('Only recordings in this state').selectOption('stopped');
    await page.getByRole('link', { name: 'seminar' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.mp4$/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete the recording');
    await page.getByLabel('Only recordings of this room').waitFor();
    await expect(client.recordings.get(recordingId)).rejects.toThrow(recordingId);
    await window.close();
  });

  it('shows the speech in a room live, names a speaker in place, and exports it', async () => {
    await stage.open('panel');
    const { transcriptionId } = await client.transcription.start('panel');
    await stage.storeSegments(transcriptionId, [segment('one', { text: 'First words.' })]);
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Transcriptions' }).click();
    await page.getByLabel('Room to follow live').fill('panel');
    await page.getByRole('button', { name: 'Follow live' }).click();
    await page.getByText('First words.').waitFor();
    await stage.storeSegments(transcriptionId, [segment('two', { text: '<b onclick=x>Second words.</b>' })]);
    await page.getByText('<b onclick=x>Second words.</b>').waitFor();
    await page
      .getByRole('button', { name: /^Rename/ })
      .first()
      .click();
    await page.getByLabel('Name of the speaker').fill('Countess Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Rename Countess Lovelace' }).count()).toBe(2);
    expect((await client.transcription.get('panel')).segments[0]?.speaker).toBe('Countess Lovelace');
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as WebVTT' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('panel.vtt');
    await client.transcription.stop('panel');
    await page.getByText('stopped', { exact: true }).waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });

  it('finds words in every room, and leads to their place in the transcript', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.goto(readView(console, '/transcriptions'));
    await client.rooms.create({ name: 'archive' });
    const { transcriptionId, startedAt } = await client.transcription.start('archive');
    const origin = Date.parse(startedAt);
    const said = ['We begin.', '<i>Two</i> meetings about Zanzibar.', 'We end.'].map((text, index) =>
      segment(`archive-${index}`, {
        ...{ text, startedAt: origin + index * 61_000, endedAt: origin + index * 61_000 + 900 },
      }),
    );
    await stage.storeSegments(transcriptionId, said);
    await client.transcription.stop('archive');
    const search = page.getByRole('searchbox', { name: 'Search what was said' });
    await search.fill('nobody said this');
    await page.getByText('Nobody said that').waitFor();
    await search.fill('meeting zanzibar');
    const found = page.getByRole('region', { name: 'Found segments' });
    await found.getByText('<i>Two</i>').waitFor();
    expect(await found.locator('mark').allTextContents()).toEqual(['meetings', 'Zanzibar']);
    await expectAccessible(page);
    await found.getByRole('link', { name: 'archive, 1:01' }).click();
    const current = page.locator('.segment-current');
    await current.getByText('<i>Two</i> meetings about Zanzibar.').waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });

  it('lists the transcriptions of recordings, and deletes one', async () => {
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/transcriptions'));
    await page.getByRole('link', { name: 'keynote' }).click();
    await page.getByText('Thank you all.').waitFor();
    await page.getByRole('link', { name: 'Play it beside its recording' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete the transcription');
    await page.getByText('No recording was transcribed yet').waitFor();
    expect((await client.transcriptions.list()).transcriptions).toEqual([]);
    await window.close();
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RtcClient } from '../../src/client/client.ts';
import { type Started, startRtc } from '../cli/support/process.ts';
import { failPending } from '../server/webhooks/support/fail-pending.ts';
import { type Receiver, respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import '../support/parts/ffmpeg.ts';
import '../support/parts/livekit.ts';
import '../support/parts/redis.ts';
import { speechRecordings } from '../support/parts/speech-model.ts';
import { confirm, joinCall } from './support/console.ts';
import { commandEnvironment, type Dev, startDev } from './support/dev.ts';

/*
 * The first steps of a new user after `npm start`, click by click, with what `rtc dev` starts: a real LiveKit, the speech
 * workers, and a recorder if egress is on the PATH. Otherwise the embedded media server records.
 */

/** A busy machine needs this long. The tests wait for states, and give up after this time. */
const POLL_OPTIONS = { timeout: 120_000, interval: 100 };

const WALK_MS = 600_000;

/** A part of what the microphone hears. A segment may begin within a sentence. */
const SAID = /tried|fail|matter|again/i;

describe('the first steps of a newcomer', () => {
  let folder: string;
  let browser: TestBrowser;
  let receiver: Receiver;
  const running: Started[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-walk-'));
    receiver = await startReceiver();
    browser = await startBrowser({ microphone: speechRecordings().beckett.path });
  });

  afterAll(async () => {
    await browser?.close();
    for (const { child, ended } of running) {
      child.kill('SIGINT');
      await ended;
    }
    await receiver?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (name: string, argv: readonly string[]): Promise<Dev> => {
    const dev = await startDev({ home: join(folder, name), argv });
    running.push(dev.started);
    return dev;
  };

  const openWindow = async (): Promise<BrowserContext> => {
    const window = await browser.openWindow();
    await window.addInitScript({ path: join(import.meta.dirname, 'support/probes.js') });
    window.setDefaultTimeout(POLL_OPTIONS.timeout);
    return window;
  };

  it(
    'show two faces and captions, record, replay a failed delivery, and try the reference',
    async () => {
      const dev = await start('real', ['--media', 'livekit']);
      const client = new RtcClient(dev.credentials);
      const window = await openWindow();

      // Opens the first link: one face, then two.
      const first = await window.newPage();
      const errors = collectErrors(first);
      await first.goto(dev.roomLink);
      await joinCall(first);
      await expect.poll(() => moving(first), POLL_OPTIONS).toBe(1);
      const second = await window.newPage();
      await second.goto(dev.roomLink);
      await joinCall(second);
      await expect.poll(() => moving(second), POLL_OPTIONS).toBe(2);
      await expect.poll(() => loudness(second), POLL_OPTIONS).toBeGreaterThan(0.005);

      // They speak, and the captions appear.
      await first.bringToFront();
      await first.getByRole('button', { name: 'Captions' }).click();
      await first.getByRole('region', { name: 'Captions' }).getByText(SAID).first().waitFor();

      // Opens the second link: the console shows the room.
      const console = await window.newPage();
      const consoleErrors = collectErrors(console);
      await console.goto(dev.consoleLink);
      await console.getByRole('link', { name: 'Rooms', exact: true }).click();
      await console.getByRole('link', { name: 'demo' }).click();
      const people = console.getByRole('rowheader');
      await expect.poll(() => people.count(), POLL_OPTIONS).toBe(2);

      // A receiver is registered, and fails.
      await console.getByRole('link', { name: 'Webhooks' }).click();
      await console.getByRole('button', { name: 'Register a webhook' }).click();
      await console.getByLabel('URL', { exact: true }).fill(receiver.url);
      await confirm(console, 'Register');
      await console.getByText(/^whsec_/).waitFor();
      await confirm(console, 'Done');
      receiver.behave(respondWith(500, 'it is broken'));
      await second.close();
      await console.getByRole('link', { name: 'Rooms' }).click();
      await console.getByRole('link', { name: 'demo' }).click();
      await expect.poll(() => people.count(), POLL_OPTIONS).toBe(1);
      const [webhook] = (await client.webhooks.list()).webhooks;
      const attempts = async () =>
        (await client.deliveries.list(webhook?.id ?? '')).deliveries.flatMap((delivery) => delivery.attempts);
      await expect.poll(async () => (await attempts()).length, POLL_OPTIONS).toBeGreaterThan(0);
      await failPending(dev.dataDir);
      receiver.behave(respondWith(200));
      await console.getByRole('link', { name: 'Webhooks' }).click();
      await console.getByRole('link', { name: receiver.url }).click();
      await console.getByRole('button', { name: 'Replay failed' }).click();
      await confirm(console, 'Send all again');
      await console.getByText(/deliver(y is|ies are) sent again/).waitFor();
      await confirm(console, 'Done');
      const left = () => receiver.received.filter(({ body }) => body.event === 'participant_left');
      await expect.poll(() => left().length, POLL_OPTIONS).toBeGreaterThan(1);
      await console.getByRole('table', { name: 'Deliveries' }).getByText('delivered').first().waitFor();

      // The room is recorded and played beside its transcript. If that is impossible, the page explains why.
      await console.getByRole('link', { name: 'Rooms' }).click();
      await console.getByRole('link', { name: 'demo' }).click();
      if (dev.hasRecorder) {
        await recordAndPlay(console, client, hasSentence);
        await console.getByRole('button', { name: 'Transcribe' }).click();
        await confirm(console, 'Transcribe');
        const transcript = console.getByRole('region', { name: 'Transcript' });
        await transcript.getByText('completed').waitFor();
        await transcript.getByRole('button', { name: SAID }).first().waitFor();
      } else {
        await console.getByRole('button', { name: 'Record' }).click();
        await confirm(console, 'Record');
        await console
          .getByRole('dialog')
          .getByText(/recorder/i)
          .first()
          .waitFor();
      }

      // Opens the reference, pastes the key, and creates a room.
      await tryIt(await window.newPage(), dev);
      expect((await client.rooms.get('demo')).name).toBe('demo');
      // Without a recorder, Chromium reports the refused start.
      const unexpected = consoleErrors.filter((text) => dev.hasRecorder || !text.includes('a status of 503'));
      expect([...errors, ...unexpected]).toEqual([]);
      await window.close();
      await client.close();
    },
    WALK_MS,
  );

  it(
    'record and play on the embedded media server, which every machine has',
    async () => {
      const dev = await start('embedded', ['--media', 'embedded']);
      const client = new RtcClient(dev.credentials);
      const window = await openWindow();
      const console = await window.newPage();
      const errors = collectErrors(console);
      expect(dev.started.output().replace(/\s+/g, ' ')).toContain('it carries no sound and no pictures');
      expect(dev.roomLink, 'there is nothing to see in a room').toBe('');
      await console.goto(dev.consoleLink);
      await client.rooms.create({ name: 'demo' });
      const joined = startRtc(['dev', 'join', 'demo', 'ada', '--publish', 'audio'], {
        env: commandEnvironment(dev),
      });
      expect((await joined.ended).code).toBe(0);
      await console.getByRole('link', { name: 'Rooms', exact: true }).click();
      await console.getByRole('link', { name: 'demo' }).click();
      await console.getByRole('rowheader', { name: 'ada' }).waitFor();
      await recordAndPlay(console, client);
      await console.getByText('No transcript').waitFor();
      expect(errors).toEqual([]);
      await window.close();
      await client.close();
    },
    WALK_MS,
  );
});

const isFilming = async (client: RtcClient): Promise<boolean> =>
  (await client.recordings.status('demo')).mediaStartedAt !== null;

/** Whether a whole sentence was said since the film began. */
async function hasSentence(client: RtcClient): Promise<boolean> {
  const { mediaStartedAt } = await client.recordings.status('demo');
  if (mediaStartedAt === null) return false;
  const { segments } = await client.transcription.get('demo', { since: mediaStartedAt });
  return segments.some(({ startedAt }) => startedAt > mediaStartedAt);
}

/** Records, stops, and plays the film. */
async function recordAndPlay(console: Page, client: RtcClient, hasFilm = isFilming): Promise<void> {
  await console.getByRole('button', { name: 'Record', exact: true }).click();
  await confirm(console, 'Record');
  await console.getByRole('button', { name: 'Stop recording' }).waitFor();
  await expect.poll(() => hasFilm(client), POLL_OPTIONS).toBe(true);
  await console.getByRole('button', { name: 'Stop recording' }).click();
  await confirm(console, 'Stop the recording');
  await console.getByRole('link', { name: 'Recordings' }).click();
  await console.getByRole('table', { name: 'Recordings' }).getByText('stopped').waitFor();
  await console.getByRole('link', { name: 'demo' }).click();
  await console.locator('video').waitFor();
  await console.evaluate("document.querySelector('video').play()");
  await expect
    .poll(() => console.evaluate("document.querySelector('video').currentTime"), POLL_OPTIONS)
    .not.toBe(0);
}

async function tryIt(page: Page, { credentials }: Dev): Promise<void> {
  await page.goto(`${credentials.url}/docs/api/createRoom`);
  await page.getByRole('link', { name: 'Test request' }).click();
  await page.getByRole('button', { name: /^Send/ }).first().click();
  await page.getByLabel('API key').fill(credentials.apiKey);
  await page.getByLabel('API secret').fill(credentials.apiSecret);
  await page.getByRole('button', { name: 'Use', exact: true }).click();
  await page.getByText('201 Created').first().waitFor();
}

/** Counts the moving pictures of the page; see support/probes.js. */
const moving = (page: Page): Promise<number> => page.evaluate('probes.moving()');
const loudness = (page: Page): Promise<number> => page.evaluate('probes.loudness()');

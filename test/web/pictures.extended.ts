import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedPage, servePage } from '../../src/cli/commands/rooms/page/page-server.ts';
import { RtcClient } from '../../src/client/client.ts';
import {
  collectErrors,
  startBrowser,
  type TestBrowser,
  type WindowOptions,
} from '../support/parts/browser.ts';
import { LAUNCHER } from '../support/parts/built.ts';
import { join as joinRoom } from '../support/parts/participant.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  expectAccessible,
  joinCall,
  type OpenedConsole,
  openConsole,
  openView,
  readView,
} from './support/console.ts';
import { type Showcase, startShowcase } from './support/showcase.ts';
import { startStage } from './support/stage.ts';

/** Folder for the pictures of `npm run pictures`. */
const FOLDER = join(import.meta.dirname, '../../.cache/pictures');

const SHAPES: readonly (readonly [name: string, options: WindowOptions])[] = [
  ['light-1440', { width: 1440, height: 900, colorScheme: 'light' }],
  ['dark-1440', { width: 1440, height: 900, colorScheme: 'dark' }],
  // A window of 1440 pixels at 200 %.
  ['light-200-percent', { width: 720, height: 450, deviceScaleFactor: 2, colorScheme: 'light' }],
  ['light-1024', { width: 1024, height: 768, colorScheme: 'light' }],
  ['light-390', { width: 390, height: 844, colorScheme: 'light' }],
  ['dark-390', { width: 390, height: 844, colorScheme: 'dark' }],
  ['dark-3840', { width: 3840, height: 2160, colorScheme: 'dark' }],
];

type Shot = {
  readonly path: string;
  /** A text that appears when the view is complete. */
  readonly awaits: string;
  readonly prepare?: (page: Page) => Promise<void>;
};

describe('pictures of every view', () => {
  let showcase: Showcase;
  let browser: TestBrowser;
  let console: OpenedConsole;

  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    browser = await startBrowser();
    showcase = await startShowcase(browser);
    console = await openConsole(showcase.stack.service);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await console?.close();
    await showcase?.close();
  });

  const listShots = ({ webhookId, recordingId, sessionId }: Showcase) =>
    ({
      overview: { path: '/overview', awaits: 'recording runs' },
      explain: { path: '/explain/room/weekly-review', awaits: 'Grace Hopper' },
      rooms: { path: '/rooms', awaits: 'weekly-review' },
      room: { path: '/rooms/all-hands', awaits: 'Alan Turing' },
      'room-dialog': {
        path: '/rooms/all-hands',
        awaits: 'Alan Turing',
        prepare: (page) => page.getByRole('button', { name: 'Close', exact: true }).click(),
      },
      'room-edit': {
        path: '/rooms/all-hands',
        awaits: 'Alan Turing',
        prepare: (page) => page.getByRole('button', { name: 'Change Alan Turing' }).click(),
      },
      'room-remove': {
        path: '/rooms/all-hands',
        awaits: 'mallory',
        prepare: (page) => page.getByRole('button', { name: 'Remove Alan Turing' }).click(),
      },
      'room-closed': { path: '/rooms/nowhere', awaits: 'This room is not open' },
      plans: {
        path: '/plans',
        awaits: 'lessons',
        prepare: (page) => page.getByRole('button', { name: 'visit', exact: true }).click(),
      },
      blocks: { path: '/blocks', awaits: 'mallory' },
      broadcasts: { path: '/broadcasts', awaits: 'all-hands' },
      usage: {
        path: '/usage',
        awaits: 'Participant minutes by day',
        prepare: async (page) => {
          await page.getByRole('img', { name: /^Participant minutes/ }).waitFor();
        },
      },
      keys: {
        path: '/keys',
        awaits: 'booking back end',
        prepare: (page) => page.getByRole('button', { name: 'Acme school' }).click(),
      },
      search: {
        path: '/rooms',
        awaits: 'weekly-review',
        prepare: async (page) => {
          await page.keyboard.press('Control+k');
          await page.keyboard.type('ada');
          await page
            .getByRole('option', { name: /^ada \(Ada Lovelace\)/ })
            .first()
            .waitFor();
        },
      },
      'live-list': { path: '/transcriptions/live', awaits: 'weekly-review' },
      sessions: { path: '/sessions', awaits: 'monday-stand-up' },
      session: { path: `/sessions/${sessionId}`, awaits: 'EG_' },
      recordings: { path: '/recordings', awaits: 'weekly-review' },
      recording: {
        path: `/recordings/${recordingId}`,
        awaits: 'None was lost',
        prepare: async (page) => {
          await page.evaluate(SHOW_MOMENT);
          await page.locator('[aria-current="true"]', { hasText: 'How did the recordings' }).waitFor();
        },
      },
      transcriptions: { path: '/transcriptions', awaits: 'completed' },
      live: { path: '/transcriptions/live/weekly-review', awaits: 'None was lost' },
      webhooks: { path: '/webhooks', awaits: 'example.org' },
      webhook: {
        path: `/webhooks/${webhookId}`,
        awaits: 'delivered',
        prepare: async (page) => {
          await page.getByRole('img', { name: /^Deliveries/ }).waitFor();
          await page.getByRole('table').getByRole('button', { name: 'participant_joined' }).first().click();
          await page.getByRole('complementary').getByText('"participant"').waitFor();
        },
      },
      events: {
        path: '/events',
        awaits: 'participant_joined',
        prepare: async (page) => {
          await page.getByRole('table').getByRole('button', { name: 'participant_joined' }).first().click();
          await page
            .getByRole('complementary')
            .getByText(/^(delivered|failed|waiting)/)
            .first()
            .waitFor();
        },
      },
      ingress: { path: '/ingress?room=studio', awaits: 'Nothing streams into studio' },
      audit: {
        path: '/audit?text=/v1/rooms',
        awaits: 'broadcast/start',
        prepare: (page) => page.getByRole('button', { name: 'broadcast/start' }).click(),
      },
      doctor: { path: '/doctor', awaits: 'signature' },
      fiscal: {
        path: '/fiscal',
        awaits: 'Read and check',
        prepare: async (page) => {
          await page.getByRole('textbox', { name: 'Fiscal code' }).fill('RSSMRA85T10A562S');
          await page.getByRole('combobox', { name: 'Birthplace' }).fill('san giul');
          await page
            .getByRole('option', { name: /GIULIANO/ })
            .first()
            .waitFor();
        },
      },
    }) satisfies Readonly<Record<string, Shot>>;

  // Before the deliveries that wait for a retry have failed.
  it('update the pictures of the readme', async () => {
    const { window, page } = await openView(browser, console, {
      width: 1200,
      height: 760,
      colorScheme: 'light',
    });
    const shots = listShots(showcase);
    for (const [name, height] of [
      ['recording', 545],
      ['webhook', 760],
    ] as const) {
      await page.goto(readView(console, shots[name].path));
      await page.getByText(shots[name].awaits).filter({ visible: true }).first().waitFor();
      await shots[name].prepare?.(page);
      const clip = { x: 0, y: 0, width: 1200, height };
      await page.screenshot({ path: join(FOLDER, `readme-${name}.png`), clip });
    }
    await window.close();
  });

  it.each(SHAPES)('show every view in %s without a finding of axe', async (shape, options) => {
    const { window, page } = await openView(browser, console, options);
    const errors = collectErrors(page);
    const shots: Readonly<Record<string, Shot>> = listShots(showcase);
    for (const [name, { path, awaits, prepare }] of Object.entries(shots)) {
      await page.goto(readView(console, path));
      await page.getByText(awaits).filter({ visible: true }).first().waitFor();
      await prepare?.(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${shape}.png`) });
      await expectAccessible(page);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0);
    }
    expect(errors).toEqual([]);
    await window.close();
  });
});

describe('pictures of the reference', () => {
  let service: TestService;
  let browser: TestBrowser;

  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    service = await startTestService();
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const shots: Readonly<Record<string, Shot>> = {
    docs: { path: '/docs', awaits: 'Your first call' },
    'docs-operation': { path: '/docs/api/createRoom', awaits: 'Test request' },
    'docs-trial': { path: '/docs/try/createRoom', awaits: 'Response' },
    'docs-credentials': {
      path: '/docs/try/createRoom',
      awaits: 'Response',
      prepare: (page) => page.getByRole('button', { name: /^Send/ }).first().click(),
    },
    'docs-guide': { path: '/docs/guide', awaits: 'Start here' },
    'docs-guide-roles': { path: '/docs/guide/roles', awaits: 'A participant joins a room' },
  };

  it.each(SHAPES)('show each of its views in %s without a finding of axe', async (shape, options) => {
    for (const [name, { path, awaits, prepare }] of Object.entries(shots)) {
      const window = await browser.openWindow(options);
      const page = await window.newPage();
      await page.goto(`${service.url}${path}`);
      await page.getByText(awaits).filter({ visible: true }).first().waitFor();
      await prepare?.(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${shape}.png`) });
      await expectAccessible(page);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect.soft(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0);
      await window.close();
    }
  });
});

describe('a picture of a room', () => {
  it('shows four people who see each other', async () => {
    await mkdir(FOLDER, { recursive: true });
    const stage = await startStage();
    const client = new RtcClient(stage.service);
    const pages: Page[] = [];
    const served: ServedPage[] = [];
    const windows: BrowserContext[] = [];
    for (const [identity, name] of PEOPLE) {
      const io = { launcher: LAUNCHER, clock: Date.now, signal: new AbortController().signal, env: {} };
      const role = identity === 'ada' ? 'host' : 'participant';
      const room = await servePage(io, { client, room: 'weekly-review', as: identity, name, role });
      const window = await stage.browser.openWindow({ width: 1000, height: 640, colorScheme: 'dark' });
      await window.addInitScript(`globalThis.avatar = '${identity}'`);
      await window.addInitScript({ path: join(import.meta.dirname, 'support/avatars.js') });
      const page = await window.newPage();
      await page.goto(room.link);
      await joinCall(page);
      pages.push(page);
      served.push(room);
      windows.push(window);
    }
    const [page] = pages;
    if (page === undefined) throw new Error('nobody has joined');
    await page.bringToFront();
    await expect.poll(() => page.evaluate(PLAYING)).toBe(PEOPLE.length);
    const { apiKey, apiSecret, url } = stage.livekit;
    const token = new AccessToken(apiKey, apiSecret, { identity: 'captioner' });
    token.addGrant({
      roomJoin: true,
      room: 'weekly-review',
      hidden: true,
      agent: true,
      canPublishData: true,
    });
    token.kind = 'agent';
    const agent = await joinRoom(url, await token.toJwt());
    const caption = await agent.room.localParticipant?.streamText({
      topic: 'lk.transcription',
      senderIdentity: 'grace',
      attributes: { 'lk.segment_id': 'one', 'lk.transcription_final': 'true', 'lk.language': 'en' },
    });
    await caption?.write('Good morning. Shall we begin with the figures of the last quarter?');
    await caption?.close();
    await page.getByText('Shall we begin').waitFor();
    await agent.leave();
    await page.screenshot({ path: join(FOLDER, 'readme-room.png') });
    for (const window of windows) await window.close();
    for (const room of served) await room.close();
    await client.close();
    await stage.close();
  });
});

/**
 * Runs in the page: the recording stops at 0:11, with its picture of that moment. It has to play before, because Chromium's
 * player goes on to show that it loads, with a turning circle, until it plays or the circle has turned.
 */
const SHOW_MOMENT = `(async () => {
  const video = document.querySelector('video');
  await video.play();
  video.pause();
  const shown = new Promise((resolve) => {
    const wait = () =>
      video.requestVideoFrameCallback((now, { mediaTime }) => (mediaTime > 10.8 ? resolve() : wait()));
    wait();
  });
  video.currentTime = 11;
  await shown;
})()`;

const PEOPLE = [
  ['ada', 'Ada Lovelace'],
  ['grace', 'Grace Hopper'],
  ['alan', 'Alan Turing'],
  ['katherine', 'Katherine Johnson'],
] as const;

const PLAYING = "[...document.querySelectorAll('video')].filter(({ videoWidth }) => videoWidth > 0).length";

import { join as joinPath } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type PageRequest,
  type ServedPage,
  servePage,
} from '../../src/cli/commands/rooms/page/page-server.ts';
import { RtcClient } from '../../src/client/client.ts';
import { run } from '../cli/support/run.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import { LAUNCHER } from '../support/parts/built.ts';
import { startLivekit } from '../support/parts/livekit.ts';
import { join } from '../support/parts/participant.ts';
import { type SharedParts, sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { expectAccessible, joinCall } from './support/console.ts';

type Person = Pick<PageRequest, 'as' | 'name' | 'role'>;

const ADA: Person = { as: 'ada', name: 'Ada Lovelace', role: 'host' };

function pageIo() {
  return { launcher: LAUNCHER, clock: Date.now, signal: new AbortController().signal, env: {} };
}

describe('a room in a real browser', () => {
  let livekit: SharedParts['livekit'];
  let service: TestService;
  let client: RtcClient;
  let browser: TestBrowser;
  const served: ServedPage[] = [];

  beforeAll(async () => {
    livekit = await sharedLivekit();
    service = await startTestService({ livekit });
    client = new RtcClient(service);
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    for (const page of served) await page.close();
    await client?.close();
    await service?.close();
  });

  const openWindow = async () => {
    const window = await browser.openWindow();
    await window.addInitScript({ path: joinPath(import.meta.dirname, 'support/probes.js') });
    return window;
  };

  const serve = async (room: string, person: Person = ADA): Promise<ServedPage> => {
    const page = await servePage(pageIo(), { client, room, ...person });
    served.push(page);
    return page;
  };

  /** Lets a participant of another program join, so that captions can be sent as that participant. */
  const enter = async (room: string, identity: string) => {
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity, name: identity });
    token.addGrant({ roomJoin: true, room });
    return await join(livekit.url, await token.toJwt());
  };

  it('lets two tabs of one link see and hear each other, chat, mute and remove', async () => {
    const { link } = await serve('tour');
    const window = await openWindow();
    const first = await window.newPage();
    const errors = collectErrors(first);
    await first.goto(link);
    await joinCall(first);
    const second = await window.newPage();
    await second.goto(link);
    await joinCall(second);
    await first.bringToFront();

    await expect.poll(() => moving(first)).toBe(2);
    await expect.poll(() => loudness(first)).toBeGreaterThan(0.005);
    await second.bringToFront();
    await expect.poll(() => moving(second)).toBe(2);

    await second.getByRole('button', { name: 'Chat' }).click();
    await second.getByRole('textbox', { name: 'Message' }).fill('Good morning');
    await second.keyboard.press('Enter');
    await second.evaluate("RTCDataChannel.prototype.send = () => { throw new Error('cannot be sent'); }");
    await second.getByRole('textbox', { name: 'Message' }).fill('How are you?');
    await second.keyboard.press('Enter');
    await second.getByRole('alert').getByText('cannot be sent').waitFor();
    expect(await second.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('How are you?');
    await first.bringToFront();
    await first.getByRole('button', { name: 'Chat 1 unread' }).click();
    await first.getByText('Good morning').waitFor();
    await expectAccessible(first);

    await first.getByRole('tab', { name: 'People' }).click();
    await first.getByRole('button', { name: 'Mute Ada Lovelace 2' }).click();
    const isMuted = async (): Promise<boolean | undefined> => {
      const { participants } = await client.participants.list('tour');
      const tracks = participants.find(({ identity }) => identity === 'ada-2')?.tracks ?? [];
      return tracks.find(({ source }) => source === 'MICROPHONE')?.muted;
    };
    await expect.poll(isMuted).toBe(true);

    await first.getByRole('button', { name: 'Remove Ada Lovelace 2' }).click();
    await first.getByRole('button', { name: 'Really remove Ada Lovelace 2' }).click();
    await second.bringToFront();
    await second.getByText('A host removed you from the room.').waitFor();
    await expectAccessible(second);
    expect((await client.participants.list('tour')).participants.map(({ identity }) => identity)).toEqual([
      'ada',
    ]);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('shares a screen, which others see and the service lists', async () => {
    const { link } = await serve('screen');
    const window = await openWindow();
    const first = await window.newPage();
    const errors = collectErrors(first);
    await first.goto(link);
    await joinCall(first);
    await expect.poll(() => moving(first)).toBe(1);
    await first.getByRole('button', { name: 'Share screen' }).click();
    const sources = async () =>
      (await client.participants.list('screen')).participants.flatMap(({ tracks }) =>
        tracks.map(({ source }) => source),
      );
    await expect.poll(sources).toContain('SCREEN_SHARE');
    const second = await window.newPage();
    await second.goto(link);
    await joinCall(second);
    await second.getByText('Ada Lovelace’s screen').waitFor();
    await expectAccessible(second);
    await expect.poll(() => moving(second)).toBe(3);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('shows captions, and foreign names and words as text', async () => {
    const hostile = '<img src=x onerror="document.title=1">';
    const { link } = await serve('captions', { ...ADA, role: 'viewer' });
    const speaker = await enter('captions', hostile);
    const window = await openWindow();
    const page = await window.newPage();
    const errors = collectErrors(page);
    await page.goto(link);
    await joinCall(page);
    await page.getByRole('button', { name: 'People' }).click();
    await page.getByRole('complementary', { name: 'People' }).getByText(hostile).waitFor();
    const caption = await speaker.room.localParticipant?.streamText({
      topic: 'lk.transcription',
      attributes: { 'lk.segment_id': 'one', 'lk.transcription_final': 'true', 'lk.language': 'en' },
    });
    await caption?.write(`The meeting starts at nine. ${hostile}`);
    await caption?.close();
    await page.getByText('The meeting starts at nine.').waitFor();
    await expectAccessible(page);
    const mallory = await enter('captions', 'mallory');
    const forged = await mallory.room.localParticipant?.streamText({
      topic: 'lk.transcription',
      senderIdentity: hostile,
      attributes: { 'lk.segment_id': 'one', 'lk.transcription_final': 'false' },
    });
    await forged?.write(`It was cancelled.${'x'.repeat(5_000)}`);
    await forged?.close();
    await page.getByText('It was cancelled.').waitFor();
    const captions = page.getByRole('region', { name: 'Captions' });
    expect(await captions.textContent(), 'the sender, and the words of both').toMatch(
      /The meeting starts at nine\..*mallory It was cancelled\.x{1000,1999}\D*$/s,
    );
    await mallory.leave();
    expect(await page.title()).toBe('captions · rtc');
    expect(errors).toEqual([]);
    await speaker.leave();
    await window.close();
  });

  it('shows the caption of a participant who has just left with the name', async () => {
    const { link } = await serve('left', { ...ADA, role: 'viewer' });
    const speakerToken = new AccessToken(livekit.apiKey, livekit.apiSecret, {
      identity: 'bob',
      name: 'Bob Bee',
    });
    speakerToken.addGrant({ roomJoin: true, room: 'left' });
    const speaker = await join(livekit.url, await speakerToken.toJwt());
    const agentToken = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: 'agent' });
    agentToken.kind = 'agent';
    agentToken.addGrant({ roomJoin: true, room: 'left', hidden: true, agent: true, canPublishData: true });
    const agent = await join(livekit.url, await agentToken.toJwt());
    const window = await openWindow();
    const page = await window.newPage();
    await page.goto(link);
    await joinCall(page);
    await page.getByRole('button', { name: 'People' }).click();
    const inPeople = page.getByRole('complementary', { name: 'People' }).getByText('Bob Bee');
    await inPeople.waitFor();
    await speaker.leave();
    await inPeople.waitFor({ state: 'detached' });
    const caption = await agent.room.localParticipant?.streamText({
      topic: 'lk.transcription',
      senderIdentity: 'bob',
      attributes: { 'lk.segment_id': 'one', 'lk.transcription_final': 'true', 'lk.language': 'en' },
    });
    await caption?.write('See you tomorrow.');
    await caption?.close();
    await page.getByRole('region', { name: 'Captions' }).getByText('Bob Bee See you tomorrow.').waitFor();
    await agent.leave();
    await window.close();
  });

  it('joins again with the same identity after a reload', async () => {
    const { link } = await serve('reload');
    const window = await openWindow();
    const page = await window.newPage();
    await page.goto(link);
    await joinCall(page);
    await page.getByText('Ada Lovelace (you)').waitFor();
    await page.reload();
    await page.getByText('Ada Lovelace (you)').waitFor();
    const identities = async () =>
      (await client.participants.list('reload')).participants.map(({ identity }) => identity);
    await expect.poll(identities).toEqual(['ada']);
    await window.close();
  });

  it.each([
    [
      'forwards its port over SSH',
      [],
      /^On your own machine run: ssh -N -L (\d+):127\.0\.0\.1:\1 ada@10\.0\.0\.1$/m,
    ],
    [
      'shows a QR code for a phone',
      ['--public-url', 'https://call.example.org'],
      /works once[\s\S]*[\u2580-\u259f]{20}/,
    ],
  ] as const)('%s', async (_, options, shown) => {
    const stopping = new AbortController();
    const seen = Promise.withResolvers<string>();
    let link = '';
    const ended = run(['rooms', 'open', 'far', '--as', 'ada', ...options], {
      launcher: LAUNCHER,
      signal: stopping.signal,
      terminals: ['stdout', 'stderr'],
      env: {
        RTC_URL: service.url,
        RTC_API_KEY: service.apiKey,
        RTC_API_SECRET: service.apiSecret,
        SSH_CONNECTION: '10.0.0.2 50000 10.0.0.1 22',
        USER: 'ada',
        BROWSER: '/nowhere/browser',
      },
      onStdout: (text) => {
        link = text.trim();
      },
      onStderr: (text) => {
        if (text.includes('until Ctrl-C')) seen.resolve(text);
      },
    });
    const text = await seen.promise;
    stopping.abort();
    await ended;
    expect(text).toMatch(shown);
    expect(new URL(link).protocol).toBe(options.length === 0 ? 'http:' : 'https:');
    expect(text).not.toContain(new URL(link).hash);
    const widest = Math.max(...text.split('\n').map((line) => line.length));
    expect(widest, 'of 80 columns').toBeLessThanOrEqual(80);
  });

  it('says before and after joining that the room is full', async () => {
    await client.rooms.create({ name: 'full', maxParticipants: 1 });
    const guest = await enter('full', 'guest');
    const { link } = await serve('full');
    const window = await openWindow();
    const page = await window.newPage();
    await page.goto(link);
    await page.getByText('The room is full: 1 of 1.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.getByRole('heading', { name: 'The room is full: 1 of 1.' }).waitFor();
    await guest.leave();
    await window.close();
  });

  it('tells a guest who was blocked until when, in the local time, and gives no advice for operators', async () => {
    const { link } = await serve('blocked', { ...ADA, role: 'participant' });
    const window = await openWindow();
    const page = await window.newPage();
    await page.goto(link);
    await joinCall(page);
    await page.getByText('Ada Lovelace (you)').waitFor();
    await client.participants.remove('blocked', 'ada', { block: 60 * 60 });
    await page.getByRole('heading', { name: 'A host removed you from the room.' }).waitFor();
    await page.getByRole('button', { name: 'Join again' }).click();
    await page.getByRole('heading', { name: /^You cannot enter this room until .*\d\d:\d\d/ }).waitFor();
    await expectAccessible(page);
    expect(await page.textContent('body')).not.toContain('rtc ');
    await window.close();
  });

  it('raises a hand, reacts, and invites with the role that was chosen, by keyboard and for screen readers', async () => {
    const { link } = await serve('hands');
    const window = await openWindow();
    const first = await window.newPage();
    const errors = collectErrors(first);
    await first.goto(link);
    await joinCall(first);
    await first.getByRole('button', { name: 'People' }).focus();
    await first.keyboard.press('Enter');
    await first.getByLabel('Invite a').selectOption('viewer');
    await first.getByRole('button', { name: 'Copy link' }).click();
    const guestLink = await first.getByRole('textbox', { name: 'Link' }).inputValue();
    await first.getByLabel('Invite a').selectOption('moderator');
    await first.getByRole('textbox', { name: 'Link' }).waitFor({ state: 'detached' });
    const second = await window.newPage();
    await second.goto(guestLink);
    await second.getByText('You watch and listen.').waitFor();
    await expectAccessible(second);
    await second.getByLabel('Your name').fill('Grace');
    await joinCall(second);
    await first.getByText('Grace has joined.').waitFor({ state: 'attached' });
    await second.getByText('viewer', { exact: true }).waitFor();
    expect(await second.getByRole('button', { name: 'Raise hand' }).count(), 'of a viewer').toBe(0);
    await first.getByRole('button', { name: 'Raise hand' }).click();
    await second.getByLabel('hand raised').waitFor();
    await first.getByRole('button', { name: 'React' }).click();
    await first.keyboard.press('Escape');
    expect(await first.getByRole('button', { name: 'Celebrate' }).isVisible()).toBe(false);
    await first.getByRole('button', { name: 'React' }).click();
    await first.getByRole('button', { name: 'Celebrate' }).click();
    await second.getByRole('img', { name: 'Celebrate' }).waitFor();
    await expectAccessible(first);
    // Escape closes what is open, from anywhere: first a menu, then the panel.
    const panel = first.getByRole('complementary');
    const chat = first.getByRole('button', { name: 'Chat' });
    await first.getByRole('button', { name: 'People' }).click();
    await panel.waitFor({ state: 'detached' });
    await chat.click();
    await first.getByRole('button', { name: 'Devices' }).click();
    await first.keyboard.press('Escape');
    expect(await first.getByLabel('Microphone').isVisible()).toBe(false);
    expect(await panel.count()).toBe(1);
    await first.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await first.evaluate('document.activeElement.title')).toBe('Chat');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('lets guests wait in the lobby until the host admits or denies them', async () => {
    await client.rooms.create({ name: 'lobby', lobby: true });
    const host = await serve('lobby');
    const guests = [
      await serve('lobby', { as: 'bob', name: 'Bob Babbage', role: 'participant' }),
      await serve('lobby', { as: 'eve', name: 'Eve', role: 'participant' }),
      await serve('lobby', { as: 'grace', name: 'Grace', role: 'viewer' }),
    ];
    const window = await openWindow();
    const ask = async ({ link }: ServedPage) => {
      const page = await window.newPage();
      await page.goto(link);
      await page.getByRole('button', { name: 'Ask to join' }).click();
      await page.getByRole('heading', { name: 'The host will let you in' }).waitFor();
      return page;
    };
    const hostPage = await window.newPage();
    const errors = collectErrors(hostPage);
    await hostPage.goto(host.link);
    await joinCall(hostPage);
    const [bob, eve] = [await ask(guests[0] ?? host), await ask(guests[1] ?? host)];
    await ask(guests[2] ?? host);
    await expectAccessible(bob);
    await hostPage.bringToFront();
    await hostPage.getByText('Bob Babbage and 2 others wait to be let in.').waitFor();
    await hostPage.getByRole('button', { name: 'People 3 waiting' }).click();
    await expectAccessible(hostPage);
    await hostPage.getByRole('button', { name: 'Deny Eve' }).click();
    await eve.getByRole('heading', { name: 'The host did not let you in.' }).waitFor();
    expect(new URL(eve.url()).hash).toBe('');
    await hostPage.getByRole('button', { name: 'Admit Bob Babbage' }).click();
    await bob.getByRole('button', { name: 'Raise hand' }).waitFor();
    await bob.getByText('Bob Babbage (you)').waitFor();
    // What was admitted stays so after a reload, and other pages are told only to the host.
    await bob.reload();
    await bob.getByText('Bob Babbage (you)').waitFor();
    expect(await bob.getByText('Grace').count()).toBe(0);
    await hostPage.getByText('Grace').waitFor();
    await hostPage.getByRole('button', { name: 'Admit Grace' }).click();
    await hostPage.getByText('Nobody waits.').waitFor();
    const present = async () =>
      (await client.participants.list('lobby')).participants.map(({ identity }) => identity);
    await expect.poll(present).toEqual(['ada', 'bob', 'grace']);
    // A track of Bob's page may arrive when LiveKit's client knows that it was left for another.
    expect(errors.filter((text) => !text.includes("participant, that's not present"))).toEqual([]);
    await window.close();
  });

  it('says how long the call lasts when the service warns, and that its time is over', async () => {
    const warn = (secondsLeft: number) => {
      const closesAt = new Date(Date.now() + secondsLeft * 1000).toISOString();
      const data = JSON.stringify({ reason: 'closes_at', closesAt, secondsLeft });
      return client.rooms.send('lesson', { topic: 'rtc.closing', data });
    };
    const { link } = await serve('lesson');
    const window = await openWindow();
    const page = await window.newPage();
    const errors = collectErrors(page);
    await page.goto(link);
    await joinCall(page);
    await page.getByText('Ada Lovelace (you)').waitFor();
    // The page shows nothing of when its connection for data is open: what was sent before is lost.
    const soon = page.getByText('This call ends in 4 minutes.');
    const warned = async () => {
      await warn(240);
      return await soon.isVisible();
    };
    await expect.poll(warned).toBe(true);
    await expectAccessible(page);
    await warn(540);
    await page.getByText('This call ends in 9 minutes.').waitFor();
    // Whoever joins now hears of it before the next warning. This service gets no events of LiveKit, which would tell the page.
    const late = await openWindow();
    await late.route('**/api/closing', (route) => route.fulfill({ json: { secondsLeft: 530 } }));
    const latePage = await late.newPage();
    await latePage.goto(link);
    await joinCall(latePage);
    await latePage.getByText('This call ends in 9 minutes.').waitFor();
    await warn(5);
    await page.getByText(/^This call ends in 1 minute\..*\([1-5]\ss\)$/).waitFor();
    await page.getByText('This call ends now.').waitFor();
    expect(errors).toEqual([]);
    await client.rooms.delete('lesson');
    await page.getByRole('heading', { name: 'The time of this call is over.' }).waitFor();
    // LiveKit's client may see that its channels end before it hears that the room is closed.
    expect(errors.filter((text) => !/data channel|DataChannel/.test(text))).toEqual([]);
    // LiveKit's client complains of tracks that come from somebody who has left: the other page stays until here.
    await late.close();
    await window.close();
  });

  it('tells a media server that is frozen, killed and started again, and joins again by itself', async () => {
    const own = await startLivekit();
    const ownService = await startTestService({ livekit: own });
    const ownClient = new RtcClient(ownService);
    const page = await servePage(pageIo(), { client: ownClient, room: 'lost', ...ADA });
    const window = await openWindow();
    const tab = await window.newPage();
    await tab.goto(page.link);
    await joinCall(tab);
    await expect.poll(() => moving(tab)).toBe(1);
    const banner = tab.getByRole('alert').getByText('Connection lost.');
    own.freeze();
    await banner.waitFor();
    own.thaw();
    await banner.waitFor({ state: 'detached' });
    await own.kill();
    await banner.waitFor();
    expect(await tab.title()).toBe('Connection lost · lost · rtc');
    await expectAccessible(tab);
    await tab.getByText('leave this page open').waitFor({ timeout: 60_000 });
    const port = Number(new URL(own.url).port);
    const again = await startLivekit({ port, apiKey: own.apiKey, apiSecret: own.apiSecret });
    await tab.getByRole('button', { name: 'Try now' }).click();
    await banner.waitFor({ state: 'detached' });
    await expect.poll(() => moving(tab)).toBe(1);
    expect(await tab.title()).toBe('lost · rtc');
    await window.close();
    await page.close();
    await ownClient.close();
    await ownService.close();
    await again.close();
  });

  it('says what to do when the command has ended', async () => {
    const { link, close } = await serve('ended');
    const window = await openWindow();
    const page = await window.newPage();
    await page.goto(link);
    await joinCall(page);
    await page.getByRole('button', { name: 'People' }).click();
    const guest = await enter('ended', 'guest');
    await page.getByRole('button', { name: 'Remove guest' }).waitFor();
    await close();
    await page.getByRole('button', { name: 'Remove guest' }).click();
    await page.getByRole('button', { name: 'Really remove guest' }).click();
    await page.getByRole('alert').getByText('Run rtc rooms open again').waitFor();
    await guest.leave();
    await window.close();
  });
});

/** Counts the moving pictures of the page; see support/probes.js. */
const moving = (page: Page): Promise<number> => page.evaluate('probes.moving()');
const loudness = (page: Page): Promise<number> => page.evaluate('probes.loudness()');

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoomEvent } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RtcClient } from '../../src/client/client.ts';
import { collectErrors, type TestBrowser } from '../support/parts/browser.ts';
import {
  confirm,
  expectAccessible,
  joinCall,
  type OpenedConsole,
  openConsole,
  openLink,
  openView,
  readView,
} from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

describe('rooms and events in the console', () => {
  let stage: Stage;
  let client: RtcClient;
  let browser: TestBrowser;
  let console: OpenedConsole;

  beforeAll(async () => {
    stage = await startStage();
    ({ client, browser, console } = stage);
  });

  afterAll(() => stage?.close());

  const identitiesIn = async (room: string): Promise<readonly string[]> =>
    (await client.participants.list(room)).participants.map(({ identity }) => identity);

  it('shows a room as it opens, its participants, and mutes, removes and closes', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByText('No room is open').waitFor();
    const ada = await stage.enter('tour', 'ada');
    await page.getByRole('link', { name: 'tour' }).click();
    await page.getByRole('rowheader', { name: 'ada' }).waitFor();
    const { sid } = await ada.publishTone();
    await page.getByRole('button', { name: 'Mute the microphone of ada' }).click();
    await page.getByText(`rtc participants mute tour ada --track ${sid}`).waitFor();
    await confirm(page, 'Mute');
    await page.getByText('Microphone, muted').waitFor();
    const [participant] = (await client.participants.list('tour')).participants;
    expect(participant?.tracks).toMatchObject([{ sid, muted: true }]);

    await stage.enter('tour', 'bob');
    await page.getByRole('button', { name: 'Remove bob' }).click();
    await confirm(page, 'Cancel');
    expect(await identitiesIn('tour')).toHaveLength(2);
    await page.getByRole('button', { name: 'Remove bob' }).click();
    await confirm(page, 'Remove');
    await page.getByRole('rowheader', { name: 'bob' }).waitFor({ state: 'detached' });
    expect(await identitiesIn('tour')).toEqual(['ada']);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByText('1 participant will be disconnected.').waitFor();
    await expectAccessible(page);
    // A choice that is taken back leaves nothing of itself.
    await page.getByLabel('Then').selectOption('Keep it closed for an hour');
    await page.getByLabel('Then').selectOption('Whoever has a token can open it again');
    await confirm(page, 'Close the room');
    await page.getByText('No room is open').waitFor();
    expect((await client.rooms.list()).rooms).toEqual([]);
    expect((await client.rooms.listClosed()).closedRooms).toEqual([]);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('opens with what runs now and what is wrong, and explains a room', async () => {
    const guest = await stage.enter('planning', 'grace');
    const window = await browser.openWindow();
    const page = await window.newPage();
    const errors = collectErrors(page);
    await page.goto(console.link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('People now').waitFor();
    await page.getByRole('img', { name: /^Participant minutes/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Rooms', exact: true }).click();
    await page.getByRole('link', { name: 'planning' }).click();
    await page.getByRole('link', { name: 'What happened?' }).click();
    await page.getByText('Room planning is open; 1 person is in it: grace.').waitFor();
    await page.getByText('grace joined as participant').waitFor();
    expect(await page.title()).toBe('What happened? · rtc console');
    await expectAccessible(page);
    await page.goto(readView(console, '/nowhere'));
    await page.getByText('There is no such view').waitFor();
    expect(await page.title()).toBe('There is no such view · rtc console');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(errors).toEqual([]);
    await guest.leave();
    await client.rooms.delete('planning');
    await window.close();
  });

  it('reads the rooms once when it opens, and shows rooms that open later', async () => {
    const window = await browser.openWindow();
    const page = await window.newPage();
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await page.goto(console.link);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('Open rooms').waitFor();
    expect(paths.filter((path) => path === '/api/v1/rooms')).toHaveLength(1);
    await page.getByRole('link', { name: 'Rooms', exact: true }).click();
    await page.getByText('No room is open').waitFor();
    await client.rooms.create({ name: 'meanwhile' });
    await page.getByRole('link', { name: 'meanwhile' }).waitFor();
    await client.rooms.delete('meanwhile');
    await page.getByText('No room is open').waitFor();
    await window.close();
  });

  it('blocks a participant, shows until when, and lifts the block', async () => {
    const { window, page } = await openView(browser, console);
    await stage.enter('doors', 'eve');
    await page.goto(readView(console, '/rooms/doors'));
    await page.getByRole('button', { name: 'Remove eve' }).click();
    await page.getByLabel('They may come back').selectOption('Never');
    await page.getByText('rtc participants remove doors eve --block forever').waitFor();
    await confirm(page, 'Remove');
    const row = page
      .getByRole('region', { name: /Kept out/ })
      .getByRole('row')
      .filter({ hasText: 'eve' });
    await row.getByText('for ever').waitFor();
    expect((await client.blocks.list('doors')).blocks).toMatchObject([
      { identity: 'eve', blockedUntil: null },
    ]);
    await expect(stage.enter('doors', 'eve')).rejects.toMatchObject({ code: 'participant-blocked' });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Let in eve' }).click();
    await page.getByText('rtc blocks remove doors eve').waitFor();
    await confirm(page, 'Let in');
    await row.waitFor({ state: 'detached' });
    expect((await client.blocks.list('doors')).blocks).toEqual([]);
    await window.close();
  });

  it('changes a participant and a room, mutes everyone, and sends data', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    const fay = await stage.enter('change', 'fay');
    await fay.publishTone();
    await page.goto(readView(console, '/rooms/change'));
    await page.getByRole('button', { name: 'Change fay' }).click();
    await confirm(page, 'Change');
    await page.getByText('Nothing is changed yet.').waitFor();
    await page.getByLabel('Metadata, a JSON object').fill('[]');
    await confirm(page, 'Change');
    await page.getByText('The metadata is not a JSON object').waitFor();
    await page.getByLabel('Metadata, a JSON object').fill('{"team":"red"}');
    await page.getByRole('textbox', { name: 'Name' }).fill('Fay');
    await page.getByLabel('Role').selectOption('moderator');
    await page
      .getByText(`rtc participants update change fay --role moderator --name Fay --metadata '{"team":"red"}'`)
      .waitFor();
    await expectAccessible(page);
    await confirm(page, 'Change');
    await page.getByRole('rowheader', { name: 'Fay' }).waitFor();
    const [participant] = (await client.participants.list('change')).participants;
    expect(participant).toMatchObject({
      name: 'Fay',
      metadata: '{"team":"red"}',
      attributes: { 'rtc.role': 'moderator' },
    });

    await page.getByRole('button', { name: 'Change the metadata' }).click();
    await page.getByRole('textbox', { name: 'Metadata' }).fill('lesson 1');
    await confirm(page, 'Change');
    await expect.poll(async () => (await client.rooms.get('change')).metadata).toBe('lesson 1');
    await page.getByRole('definition').getByText('lesson 1').waitFor();

    await page.getByRole('button', { name: 'Mute all' }).click();
    await page.getByText('rtc rooms mute change --source microphone').waitFor();
    await confirm(page, 'Mute');
    await page.getByText('1 track was muted.').waitFor();
    await confirm(page, 'Done');
    await page.getByText('Microphone, muted').waitFor();

    const received = new Promise<string>((resolve) =>
      fay.room.on(RoomEvent.DataReceived, (data: Uint8Array) => resolve(new TextDecoder().decode(data))),
    );
    await page.getByRole('button', { name: 'Send data' }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('{"poll":"open"}');
    await page.getByRole('textbox', { name: /^Topic/ }).fill('poll');
    await page.getByText(`rtc rooms send change '{"poll":"open"}' --topic poll`).waitFor();
    await confirm(page, 'Send');
    await page.getByText('Sent to 1 participant.').waitFor();
    expect(await received).toBe('{"poll":"open"}');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('forgets what was typed into a dialog that was cancelled', async () => {
    const { window, page } = await openView(browser, console);
    await client.rooms.create({ name: 'drafts', metadata: 'lesson 1' });
    await page.goto(readView(console, '/rooms/drafts'));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Change the metadata' }).click();
    await dialog.getByRole('textbox', { name: 'Metadata' }).fill('lesson 2');
    await confirm(page, 'Cancel');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Change the metadata' }).click();
    await page.getByText(`rtc rooms update drafts --metadata 'lesson 1'`).waitFor();
    await confirm(page, 'Change');
    await dialog.waitFor({ state: 'detached' });
    expect((await client.rooms.get('drafts')).metadata).toBe('lesson 1');
    await client.rooms.delete('drafts');
    await window.close();
  });

  it('creates a room, and explains why one cannot be recorded', async () => {
    const { window, page } = await openView(browser, console);
    await page.getByRole('button', { name: 'Create a room' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('studio');
    await page.getByText('Times', { exact: true }).click();
    await page.getByText('People and lobby').click();
    await page.getByText('What starts by itself').click();
    await page.getByText('Words and metadata').click();
    await page.getByRole('spinbutton', { name: 'People at most' }).fill('4');
    await page.getByLabel('People wait until they are admitted').check();
    await page.getByRole('combobox', { name: 'Record', exact: true }).selectOption('when a host is there');
    await page.getByLabel('Sound only').check();
    await page.getByRole('spinbutton', { name: 'Closed when empty, minutes' }).fill('10');
    await page.getByRole('textbox', { name: 'Metadata' }).fill('{"course":7}');
    await page
      .getByText(
        `rtc rooms create studio --empty-timeout 600s --max-participants 4 --record role:host --metadata '{"course":7}' --lobby --audio-only`,
      )
      .waitFor();
    await expectAccessible(page);
    await confirm(page, 'Create');
    await page.getByRole('heading', { name: 'studio' }).waitFor();
    expect(await client.rooms.get('studio')).toMatchObject({
      ...{ name: 'studio', maxParticipants: 4, emptyTimeout: 600, metadata: '{"course":7}' },
    });
    await page.getByText('Nobody is in this room').waitFor();
    await page.getByRole('button', { name: 'Record' }).click();
    await confirm(page, 'Record');
    const alert = page.getByRole('dialog').getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/recorder/i);
    await window.close();
  });

  it('joins a room in a new tab', async () => {
    await client.rooms.create({ name: 'meeting' });
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/rooms/meeting'));
    await page.getByRole('button', { name: 'Join' }).click();
    const [tab] = await Promise.all([window.waitForEvent('page'), confirm(page, 'Open the room')]);
    await joinCall(tab);
    await tab.getByText('operator (you)').waitFor();
    await page.bringToFront();
    await page.getByRole('rowheader', { name: 'operator' }).waitFor();
    await page.getByText('host', { exact: true }).waitFor();
    await window.close();
  });

  it('shows events as they happen, by room and kind, with their payload', async () => {
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/events'));
    const guest = await stage.enter('stage', 'carol');
    await page.getByLabel('Only events of this room').fill('stage');
    await page.getByText('rtc events tail --room stage --since 1h').waitFor();
    const joined = page.getByRole('row').filter({ hasText: 'participant_joined' });
    await expect.poll(() => joined.count()).toBe(1);
    await joined.getByRole('button').click();
    const panel = page.getByRole('complementary', { name: 'Event participant_joined' });
    await panel.getByText('"identity": "carol"').waitFor();
    await panel.getByText('No webhook was registered for it.').waitFor();
    const address = new URL(page.url());
    expect(address.search || address.hash).toMatch(/event=evt_/);
    await page.reload();
    await panel.getByText('"identity": "carol"').waitFor();
    await page.getByLabel('Only events with this text').fill('CAROL');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const csv = await readFile(await download.path(), 'utf8');
    expect(csv.split('\n')[0]).toBe('id,time,event,room,participant,payload');
    expect(csv).toMatch(/,participant_joined,stage,carol,/);
    await page.getByLabel('Only events with this text').fill('nobody at all');
    await page.getByText('No event has this text').waitFor();
    await page.getByLabel('Only events with this text').fill('');
    await page.getByLabel('Only events of this kind').selectOption('participant_left');
    await page.getByText('Nothing has happened in this period').waitFor();
    await guest.leave();
    await page.getByRole('button', { name: 'participant_left' }).waitFor();
    await page.getByText('rtc events tail --room stage --events participant_left --since 1h').waitFor();
    await expectAccessible(page);
    await window.close();
  });

  it('shows hostile names as text', async () => {
    await stage.enter(HOSTILE, HOSTILE);
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('rowheader', { name: HOSTILE }).waitFor();
    await page.goto(readView(console, '/events'));
    await page.getByRole('cell', { name: HOSTILE }).first().waitFor();
    expect(await page.title()).toBe('Events · rtc console');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('changes nothing with --read-only', async () => {
    await client.rooms.create({ name: 'kept' });
    const reading = await openConsole(stage.service, ['--read-only']);
    const { window, page } = await openView(browser, reading);
    await page.getByText('read-only', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a room' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'kept' }).click();
    expect(await page.getByRole('button', { name: 'Close', exact: true }).isDisabled()).toBe(true);
    const refused = await page.evaluate(
      `fetch('/api/v1/rooms/kept', {
        method: 'DELETE', headers: { authorization: 'Bearer ' + localStorage.getItem('rtc-console-token') },
      }).then((r) => r.status)`,
    );
    expect(refused).toBe(403);
    expect((await client.rooms.get('kept')).name).toBe('kept');
    await window.close();
    await reading.close();
  });

  it('shows a protected profile in red, and requires its name before it closes a room', async () => {
    await client.rooms.create({ name: 'precious' });
    const home = await mkdtemp(join(tmpdir(), 'rtc-profiles-'));
    await mkdir(join(home, 'rtc'), { mode: 0o700 });
    const { url, apiKey, apiSecret } = stage.service;
    const profiles = { prod: { url, apiKey, apiSecret, isProtected: true } };
    await writeFile(join(home, 'rtc/config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const careful = await openLink(['console', '--print', '--profile', 'prod'], { XDG_CONFIG_HOME: home });
    const { window, page } = await openView(browser, careful);
    await page.getByText('protected', { exact: true }).waitFor();
    await page.getByText('rtc rooms list --profile prod').waitFor();
    const colour = await page.evaluate(
      "getComputedStyle(document.querySelector('.service')).backgroundColor",
    );
    expect(colour).toBe('rgb(156, 31, 44)');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'precious' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    const close = page.getByRole('dialog').getByRole('button', { name: 'Close the room' });
    expect(await close.isDisabled()).toBe(true);
    await page.getByLabel('Type prod to go on').fill('prod');
    await close.click();
    await page.getByRole('button', { name: 'Create a room' }).waitFor();
    expect((await client.rooms.list()).rooms.map(({ name }) => name)).not.toContain('precious');
    await window.close();
    await careful.close();
    await rm(home, { recursive: true, force: true });
  });

  it('waits for an unavailable service, and continues when it is back', async () => {
    const { window, page } = await openView(browser, console);
    await stage.stopService();
    await page.getByText('Service away').waitFor();
    await page.getByText('They go on by themselves when it is back.').waitFor();
    const failed = page.waitForResponse(
      (response) => response.url().includes('/v1/webhooks') && response.status() === 503,
    );
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await failed;
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.getByRole('link', { name: 'Rooms', exact: true }).click();
    await stage.startService();
    await page.getByText('Live', { exact: true }).waitFor();
    await client.rooms.create({ name: 'after' });
    await page.getByRole('link', { name: 'after' }).waitFor();
    await window.close();
  });

  it('reports that the command has ended, and gives no access to the page of another one', async () => {
    await client.rooms.create({ name: 'last' });
    const own = await openConsole(stage.service);
    const { window, page } = await openView(browser, own);
    await page.getByRole('link', { name: 'last' }).waitFor();
    await own.close();
    await page.getByText('Console ended').waitFor();
    const advice = page.getByText('Run rtc console again, and open its link.');
    await advice.waitFor();
    // Neither data nor the files of other views can be read any more. The page says so once.
    await page.getByRole('link', { name: 'last' }).click();
    await page.getByRole('heading', { name: 'last' }).waitFor();
    await page.getByText('Loading…').waitFor({ state: 'detached' });
    expect(await advice.count()).toBe(1);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('This view could not be loaded').waitFor();
    expect(await advice.count()).toBe(1);
    const without = await browser.openWindow();
    const stranger = await without.newPage();
    await stranger.goto(new URL('/', console.link).href);
    await stranger.getByText('This page was not opened by the link of this console.').waitFor();
    await without.close();
    await window.close();
  });
});

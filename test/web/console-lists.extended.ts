import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RtcClient } from '../../src/client/client.ts';
import { type Stack, startStack } from '../cli/support/stack.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import {
  confirm,
  expectAccessible,
  type OpenedConsole,
  openConsole,
  openView,
  readView,
} from './support/console.ts';

const STREAM = 'rtmp://127.0.0.1:1935/live/secret-of-the-stream';

describe('keys, plans, broadcasts and usage in the console', () => {
  let stack: Stack;
  let client: RtcClient;
  let browser: TestBrowser;
  let console: OpenedConsole;

  beforeAll(async () => {
    stack = await startStack({ environment: { BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    client = new RtcClient(stack.service);
    await client.rooms.create({ name: 'demo-1' });
    await stack.media.control.join('demo-1', { identity: 'ada', name: 'Ada Lovelace' });
    stack.media.control.publish('demo-1', 'ada');
    browser = await startBrowser();
    console = await openConsole(stack.service);
  });

  afterAll(async () => {
    await browser?.close();
    await console?.close();
    await client?.close();
    await stack?.close();
  });

  it('finds views, commands, rooms and people by keys alone, and shows the keys', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('heading', { name: 'Rooms' }).waitFor();
    await page.keyboard.press('?');
    await page.getByText('Show these keys').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.getByLabel('Find a room').evaluate('document.activeElement.ariaLabel')).toBe(
      'Find a room',
    );
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Usage' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.type('usage');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ada');
    await page.getByRole('option', { name: 'ada (Ada Lovelace) in demo-1' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/rooms/demo-1');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('wh_unknown-id');
    await page.getByRole('option', { name: 'Webhook wh_unknown-id' }).click();
    await page.waitForURL('**/webhooks/wh_unknown-id');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('make a pl');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Make a plan').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.keyboard.press('Escape');
    expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
    await window.close();
  });

  it('tells in the overview what works, what was refused, and the minutes of today', async () => {
    await client.rooms.delete('nowhere').catch(() => undefined);
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Participant minutes today (UTC)').waitFor();
    await page.getByRole('img', { name: /^Participant minutes: / }).waitFor();
    const workers = page.getByRole('region', { name: 'Workers' });
    await workers.getByText('No recording runs').waitFor();
    await workers.getByText('No live transcription runs').waitFor();
    await page.getByRole('region', { name: 'Last errors' }).getByText('room-not-found').click();
    await page.getByRole('heading', { name: 'What happened?' }).waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });

  it('lists blocks over all rooms, and lifts one', async () => {
    await client.participants.remove('demo-1', 'mallory', { block: 'forever' });
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Blocks' }).click();
    await page.getByRole('button', { name: 'mallory' }).click();
    const panel = page.getByRole('complementary', { name: 'mallory' });
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Lift the block' }).click();
    await confirm(page, 'Lift the block');
    await page.getByText('Nobody is blocked').waitFor();
    await page.goto(readView(console, '/transcriptions/live'));
    await page.getByText('No room has been transcribed').waitFor();
    await expectAccessible(page);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('creates a key with rooms and limits, shows its secret once, and revokes it', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('There is only the root key').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Acme school');
    await page.getByLabel('rooms', { exact: true }).check();
    await page.getByLabel('Only rooms whose names begin so').fill('acme-');
    await page.getByLabel('Open rooms at once').fill('20');
    await page
      .getByText("rtc keys create 'Acme school' --scope read --scope rooms --rooms acme- --limit rooms=20")
      .waitFor();
    await expectAccessible(page);
    await confirm(page, 'Create');
    const secret = await page.getByText(/^rtcsk_/).innerText();
    await confirm(page, 'Done');
    await page.getByRole('button', { name: 'Acme school' }).click();
    const panel = page.getByRole('complementary', { name: 'Acme school' });
    await panel.getByText('acme-*').waitFor();
    await panel.getByText('Open rooms at once').waitFor();
    expect(await page.content()).not.toContain(secret);
    const [key] = (await client.keys.list()).keys;
    expect(key).toMatchObject({ rooms: ['acme-'], limits: { rooms: 20 }, scopes: ['read', 'rooms'] });
    expect(page.url()).toContain(`open=${key?.id}`);
    await expectAccessible(page);
    await page.reload();
    await panel.getByRole('button', { name: 'Revoke' }).click();
    await confirm(page, 'Revoke the key');
    await panel.getByText('revoked', { exact: true }).waitFor();
    expect((await client.keys.list()).keys[0]?.status).toBe('revoked');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('makes a plan, changes only what was changed, and deletes it', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    const planned = { soloTimeout: 90, closingWarnings: [], opensAt: '2027-01-31T09:30:05.000Z' };
    await client.plans.put('visits', { prefix: 'visit-', ...planned });
    await page.getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('button', { name: 'Make a plan' }).click();
    await page.getByLabel('Id of the plan').fill('lessons');
    await page.getByLabel('Beginning of names').fill('lesson-');
    await page.getByLabel('Lasts at most, minutes').fill('90');
    await page.getByLabel('Warnings, minutes before the end').fill('5, 1');
    await page
      .getByText('rtc plans set lessons --prefix lesson- --max-duration 5400s --closing-warnings 300s,60s')
      .waitFor();
    await expectAccessible(page);
    await confirm(page, 'Make it');
    await page.getByRole('button', { name: 'lessons' }).waitFor();
    expect(await client.plans.get('lessons')).toMatchObject({
      maxDuration: 5400,
      closingWarnings: [300, 60],
    });

    await page.getByRole('button', { name: 'visits' }).click();
    const panel = page.getByRole('complementary', { name: 'visits' });
    await panel.getByRole('button', { name: 'Change' }).click();
    await page.getByText('Words and metadata').click();
    await page.getByLabel('Language of transcriptions').fill('it-IT');
    await page.getByText('What starts by itself').click();
    await page.getByLabel('Transcribe').selectOption('when the first person joins');
    await page.getByLabel('No captions in the room').check();
    await confirm(page, 'Save');
    await panel.getByText('when the first person joins, no captions in the room').waitFor();
    expect(await client.plans.get('visits')).toMatchObject({
      ...planned,
      language: 'it-IT',
      transcribe: { at: 'firstJoin', options: { captions: false } },
    });
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete the plan');
    await panel.waitFor({ state: 'detached' });
    expect((await client.plans.list()).plans.map(({ planId }) => planId)).toEqual(['lessons']);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('shows each receiver of a broadcast without its key, adds one, removes one, stops and deletes', async () => {
    await client.broadcasts.start('demo-1', { urls: [STREAM] });
    await vi.waitUntil(
      async () => (await client.broadcasts.status('demo-1')).broadcast?.urls[0]?.state === 'active',
      { timeout: 60_000 },
    );
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    // The recorder is in the room, and does not record it.
    const row = page.getByRole('row', { name: /^demo-1/ });
    await row.waitFor();
    expect(await row.getByText('Recording', { exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Broadcasts' }).click();
    await page.getByText('1 of 1 active').waitFor();
    await page.getByRole('button', { name: 'demo-1' }).click();
    const panel = page.getByRole('complementary', { name: 'demo-1' });
    await panel.getByText('rtmp://127.0.0.1:1935/live/***').waitFor();
    await panel.getByRole('button', { name: 'Add a URL' }).click();
    await page.getByLabel('URL with the stream key').fill(`${STREAM}-2`);
    await expectAccessible(page);
    await confirm(page, 'Add');
    await panel.getByRole('listitem').nth(1).waitFor();
    await panel
      .getByRole('button', { name: /^Remove/ })
      .first()
      .click();
    await confirm(page, 'Remove it');
    await panel.getByText(/^removed/).waitFor();
    await expectAccessible(page);
    expect(await page.content()).not.toContain('secret-of-the-stream');
    await panel.getByRole('button', { name: 'Stop' }).click();
    await confirm(page, 'Stop it');
    await panel.getByText('stopped').waitFor();
    await panel.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete the broadcast');
    await page.getByText('Nothing was broadcast yet').waitFor();
    expect((await client.broadcasts.list()).broadcasts).toEqual([]);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('adds up usage by day, room and prefix with a chart, and saves it', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('img', { name: /^Participant minutes/ }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('What each line is').selectOption('prefix');
    await page.getByText('rtc usage --by prefix').waitFor();
    await page.getByRole('cell', { name: /^demo/ }).waitFor();
    await expectAccessible(page);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    expect((await saving).suggestedFilename()).toBe('usage-by-prefix.csv');
    await page.getByRole('cell', { name: /^demo/ }).getByRole('link').click();
    await page.getByRole('cell', { name: /^demo-1/ }).waitFor();
    await page.getByLabel('Only rooms whose names begin so').fill('other-');
    await page.getByText('Nothing was used in this period').waitFor();
    await page.goto(readView(console, '/usage?by=month&figure=roomMinutes'));
    await page.getByRole('img', { name: /^Room minutes/ }).waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });
});

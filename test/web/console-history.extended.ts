import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RtcClient } from '../../src/client/client.ts';
import { collectErrors, type TestBrowser } from '../support/parts/browser.ts';
import { expectAccessible, type OpenedConsole, openView, readView } from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

const HOSTILE = '=<img src=x onerror="document.title=1">';

describe('sessions and the audit log in the console', () => {
  let stage: Stage;
  let client: RtcClient;
  let browser: TestBrowser;
  let console: OpenedConsole;

  beforeAll(async () => {
    stage = await startStage();
    ({ client, browser, console } = stage);
  });

  afterAll(() => stage?.close());

  const saveCsv = async (page: Page): Promise<readonly string[]> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save as CSV' }).click(),
    ]);
    return (await readFile(await download.path(), 'utf8')).split('\n');
  };

  it('shows a session as it runs and after its end, who was there when, and saves both as CSV', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('No room has been open yet').waitFor();
    const ada = await stage.enter('lesson', 'ada');
    await page.getByRole('link', { name: 'lesson' }).click();
    await page.getByText('It is open').waitFor();
    const lanes = page.getByRole('list', { name: 'Who was there when' }).getByRole('listitem');
    await lanes.filter({ hasText: 'ada' }).getByText('there now').waitFor();
    const bob = await stage.enter('lesson', HOSTILE);
    await lanes.filter({ hasText: HOSTILE }).getByText('there now').waitFor();
    await ada.leave();
    await lanes.filter({ hasText: 'ada' }).getByText('there now').waitFor({ state: 'detached' });
    await stage.enter('lesson', 'ada');
    await lanes.filter({ hasText: 'ada' }).getByText('2 times').waitFor();
    expect(await lanes.count()).toBe(2);
    const [session] = (await client.sessions.list({ roomId: 'lesson' })).sessions;
    await page.getByText(`rtc sessions get ${session?.sessionId}`).waitFor();
    await expectAccessible(page);

    await bob.leave();
    await client.rooms.delete('lesson');
    await page.getByText('It is open').waitFor({ state: 'detached' });
    await page.getByText('ended', { exact: true }).waitFor();
    const people = await saveCsv(page);
    expect(people.slice(1, 4).map((line) => line.split(',').slice(0, 3))).toEqual([
      [session?.sessionId, 'lesson', 'ada'],
      [session?.sessionId, 'lesson', `"'=<img src=x onerror=""document.title=1"">"`],
      [session?.sessionId, 'lesson', 'ada'],
    ]);
    expect(await page.title()).toBe('lesson · rtc console');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('lists sessions by room, state and day, as the command does', async () => {
    await client.rooms.create({ name: 'standing' });
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/sessions'));
    const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel('Only sessions in this state').selectOption('ended');
    await page.getByText('rtc sessions list --status ended').waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.reload();
    expect(await page.getByLabel('Only sessions in this state').inputValue()).toBe('ended');
    await page.getByLabel('Only sessions in this state').selectOption('');
    await page.getByLabel('Only sessions of this room').fill('standing');
    await page.getByText('rtc sessions list --room standing').waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    const saved = await saveCsv(page);
    expect(saved[0]).toMatch(/^session_id,room,status/);
    expect(saved).toHaveLength(3);
    expect(saved[1]).toContain(',standing,open,');
    await page.getByLabel('Opened from (UTC)').fill('2999-01-01');
    await page.getByText('rtc sessions list --room standing --since 2999-01-01').waitFor();
    await page.getByText('No session is like that').waitFor();
    await expectAccessible(page);
    await window.close();
  });

  it('shows who changed what, by room and result, and leads from an error to its request', async () => {
    await client.rooms.create({ name: 'watched' });
    await client.rooms.delete('watched');
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Only requests about this room').fill('watched');
    await page.getByText('rtc audit list --room watched').waitFor();
    const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await expect(client.rooms.delete('watched')).rejects.toThrow();
    await page.getByRole('button', { name: 'Read again' }).click();
    await rows.filter({ hasText: '404 room-not-found' }).waitFor();
    await page.getByLabel('Only requests that ended so').selectOption('refused');
    await page.getByText('rtc audit list --room watched --result refused').waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: 'DELETE /v1/rooms/watched' }).click();
    const panel = page.getByRole('complementary', { name: 'Request DELETE /v1/rooms/:roomId' });
    const [entry] = (await client.audit.list({ roomId: 'watched', result: 'refused' })).entries;
    await panel.getByText(`rtc explain ${entry?.requestId}`).waitFor();
    await expectAccessible(page);
    await panel.getByRole('link', { name: 'What happened?' }).click();
    await page.getByRole('heading', { name: 'What happened?' }).waitFor();
    await page.getByText('room-not-found').first().waitFor();
    await page.goBack();
    await panel.getByRole('link', { name: entry?.requestId ?? '' }).click();
    await page.getByText(`rtc audit list --request ${entry?.requestId}`).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: 'DELETE /v1/rooms/watched' }).click();
    await panel.getByRole('link', { name: 'watched', exact: true }).click();
    await page.getByText('This room is not open').waitFor();

    // The request id of an error in a dialog.
    await page.goto(readView(console, '/webhooks'));
    await page.getByRole('button', { name: 'Register a webhook' }).click();
    await page.getByLabel('URL', { exact: true }).fill('not-a-url');
    await page.getByRole('dialog').getByRole('button', { name: 'Register', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').getByRole('link').click();
    await rows.filter({ hasText: 'POST /v1/webhooks' }).getByText('400').waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });

  it('shows the whole of a long request beside its panel, on a laptop and on a telephone', async () => {
    const removal = client.participants.remove('first-semester-mathematics', 'maria.montessori@example.org');
    await expect(removal).rejects.toThrow();
    for (const width of [1440, 1024, 390]) {
      const { window, page } = await openView(browser, console, { width });
      await page.goto(readView(console, '/audit?room=first-semester-mathematics'));
      const request = page.getByRole('button', { name: /^DELETE .*maria/ });
      await request.waitFor();
      expect(await page.evaluate(CUT_CELLS), `${width} pixels`).toEqual([]);
      await request.click();
      await page.getByRole('complementary').waitFor();
      expect(await page.evaluate(CUT_CELLS), `${width} pixels, with the panel`).toEqual([]);
      await window.close();
    }
  });

  it('leads from a room to its session', async () => {
    const { window, page } = await openView(browser, console);
    await page.getByRole('link', { name: 'standing' }).click();
    await page.getByRole('link', { name: /^RM_/ }).click();
    await page.getByText('Nobody joined').waitFor();
    await page.getByRole('link', { name: 'Go to the room' }).click();
    await page.getByText('Nobody is in this room').waitFor();
    await window.close();
  });
});

/** The texts of a table that are not shown whole. */
const CUT_CELLS = `[...document.querySelectorAll('td, td *')]
  .filter(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    clientWidth > 0 && (scrollWidth > clientWidth || scrollHeight > clientHeight))
  .map(({ textContent }) => textContent)`;

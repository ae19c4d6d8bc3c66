import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { RtcClient } from '../../src/client/client.ts';
import { respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { startBrowser, type TestBrowser, type WindowOptions } from '../support/parts/browser.ts';
import { ROOT } from '../support/parts/built.ts';
import { expectAccessible, joinCall } from './support/console.ts';

/*
 * The walk of somebody who sees it for the first time, as twelve pictures: what `npm start` prints, a call of four on a laptop
 * and a telephone, a media server that is killed, and the reason why a receiver of webhooks got nothing. `npm run pictures`
 * shows them in docs/pictures.
 */

const FOLDER = join(import.meta.dirname, '../../.cache/pictures');

const LAPTOP: WindowOptions = { width: 1200, height: 750, colorScheme: 'light' };
const TELEPHONE: WindowOptions = { width: 390, height: 844, hasTouch: true, isMobile: true };

const FOUR = 4;
/** The tests wait for states, and give up after this time. */
const PATIENCE = { timeout: 120_000 };

it('shows the first walk in twelve pictures', async () => {
  await mkdir(FOLDER, { recursive: true });
  const started = await npmStart();
  const { service, processes } = started;
  const client = new RtcClient(service);
  const receiver = await startReceiver();
  receiver.behave(respondWith(503, 'the database is being moved'));
  await client.webhooks.create({ url: `${receiver.url}/hooks/rtc` });
  const browser = await startBrowser();
  let taken = 0;
  const take = async (page: Page): Promise<void> => {
    taken += 1;
    await page.bringToFront();
    const path = join(FOLDER, `walk-${String(taken).padStart(2, '0')}.jpg`);
    await page.screenshot({ path, type: 'jpeg', quality: 78 });
    await expectAccessible(page);
  };

  const terminal = await (await browser.openWindow(LAPTOP)).newPage();
  await terminal.setContent(drawTerminal(started.printed));
  await take(terminal);

  // The link of `npm start`: a look at oneself, then the call.
  const ada = await openPerson(browser, 'ada', LAPTOP);
  await ada.goto(started.roomLink);
  await ada.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await ada.getByLabel('Your name').fill('Ada Lovelace');
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(1);
  await take(ada);
  await joinCall(ada);
  await ada.getByText('Ada Lovelace (you)').waitFor();
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(1);
  await ada.getByRole('button', { name: 'People' }).click();
  await ada.getByLabel('Invite a').selectOption('participant');
  await ada.getByRole('button', { name: 'Copy link' }).click();
  const invitation = await ada.getByRole('textbox', { name: 'Link' }).inputValue();
  await take(ada);

  // The others come by the link, one of them on a telephone.
  const join4 = async (person: string, name: string, options: WindowOptions): Promise<Page> => {
    const page = await openPerson(browser, person, options);
    await page.goto(invitation);
    await page.getByLabel('Your name').fill(name);
    if (options === TELEPHONE) await take(page);
    await joinCall(page);
    return page;
  };
  const grace = await join4('grace', 'Grace Hopper', TELEPHONE);
  await join4('alan', 'Alan Turing', LAPTOP);
  await join4('katherine', 'Katherine Johnson', LAPTOP);
  await ada.bringToFront();
  await ada.keyboard.press('Escape');
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(ada);
  await grace.bringToFront();
  await expect.poll(() => grace.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(grace);

  // The media server is killed: both say so at once, and go on when it is back. `npm start` starts it again a second later; here
  // it sleeps until the pictures are taken.
  const { owner, mediaServer } = await processes();
  process.kill(owner, 'SIGSTOP');
  process.kill(mediaServer, 'SIGKILL');
  const banner = ada.getByRole('alert').getByText('Connection lost.');
  await banner.waitFor();
  await take(ada);
  await grace.getByRole('alert').getByText('Connection lost.').waitFor();
  await take(grace);
  process.kill(owner, 'SIGCONT');
  await ada.bringToFront();
  await ada.getByRole('button', { name: 'Try now' }).click();
  await banner.waitFor({ state: 'detached' });
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(ada);

  // The console: what is wrong, the receiver, one of its deliveries, and what happened.
  const window = await browser.openWindow(LAPTOP);
  window.setDefaultTimeout(PATIENCE.timeout);
  const page = await window.newPage();
  await page.goto(started.consoleLink);
  const wrong = page.getByRole('region', { name: 'What is wrong now' });
  await wrong.getByText('responded with 503').first().waitFor();
  await page.getByRole('region', { name: 'Workers' }).getByText('No recording runs').waitFor();
  // The service asks the media server again some seconds later.
  await wrong.getByText('media server', { exact: true }).waitFor({ state: 'detached' });
  await take(page);
  await wrong.getByRole('link', { name: 'Why?' }).first().click();
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('button').first().click();
  const panel = page.getByRole('complementary');
  await panel.getByText('the database is being moved').first().waitFor();
  await take(page);
  await panel.getByRole('link', { name: 'What happened?' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await take(page);

  expect(taken).toBe(12);
  await browser.close();
  await client.close();
  await receiver.close();
}, 600_000);

/** Runs `npm start` in a pseudo-terminal, as somebody who has LiveKit and nothing else. It ends with the test. */
async function npmStart() {
  const home = await mkdtemp(join(tmpdir(), 'rtc-film-'));
  const dataDir = join(home, 'rtc-service', '.rtc');
  const built = join('rtc-service', 'livekit-server');
  for (const folder of [dataDir, join(home, '.cache/rtc-service')]) await mkdir(folder, { recursive: true });
  await symlink(
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), built),
    join(home, '.cache', built),
  );
  const pty = spawn('npm', ['start'], {
    cwd: ROOT,
    cols: COLUMNS,
    rows: 40,
    env: {
      ...{ PATH: process.env.PATH ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: home, USER: 'ada' },
      ...{ XDG_CACHE_HOME: join(home, '.cache'), DATA_DIR: dataDir },
    },
  });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  onTestFinished(async () => {
    pty.write('\u0003');
    await ended;
    await rm(home, { recursive: true, force: true });
  });
  let printed = '';
  pty.onData((data) => {
    printed += data;
  });
  const read = (pattern: RegExp) => pattern.exec(stripVTControlCharacters(printed))?.[1] ?? '';
  await expect.poll(() => read(/(Ctrl-C stops it all)/), PATIENCE).not.toBe('');
  const { apiKey, apiSecret } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
  return {
    // Everybody has a home folder of their own.
    printed: printed.replaceAll(home, '~'),
    roomLink: read(/in the room demo: (\S+)/),
    consoleLink: read(/in the console: (\S+)/),
    service: { url: read(/The service is up at (\S+)/), apiKey, apiSecret },
    processes: async (): Promise<{ readonly owner: number; readonly mediaServer: number }> => {
      const { owner, started } = JSON.parse(await readFile(join(dataDir, 'dev-processes.json'), 'utf8'));
      const all: readonly { readonly name: string; readonly pid: number }[] = started;
      return { owner: owner.pid, mediaServer: all.find(({ name }) => name === 'livekit-server')?.pid ?? 0 };
    },
  };
}

const COLUMNS = 120;

/** Draws what the terminal shows, as a page. */
function drawTerminal(printed: string): string {
  const lines = printed.split('\r\n').map((line) => line.split(ERASURE).at(-1));
  const text = lines.join('\n').replaceAll('&', '&amp;').replaceAll('<', '&lt;').trimEnd();
  const styled = text
    .replaceAll(STYLE, (_, code: string) =>
      ENDS.includes(code) ? '</span>' : `<span class="style-${code}">`,
    )
    .replaceAll(CONTROL, '');
  return `<!doctype html><html lang="en"><title>Terminal</title><style>${LOOK}</style>
    <main><h1>Terminal</h1><pre>$ npm start\n${styled}</pre></main>`;
}

const ESCAPE = '\u001b';
const ERASURE = new RegExp(`${ESCAPE}\\[\\d*[GK]`);
const STYLE = new RegExp(`${ESCAPE}\\[(\\d*)m`, 'g');
const CONTROL = new RegExp(`${ESCAPE}\\[[?\\d;]*[A-Za-z]|\r`, 'g');
const ENDS: readonly string[] = ['', '0', '22', '39'];

/* The colours of a dark terminal. */
const LOOK = `
  body { margin: 0; padding: 28px; background: #2b3140; font: 14px/1.45 'DejaVu Sans Mono', monospace }
  main { background: #11151c; color: #d6dae0; border-radius: 10px; overflow: hidden }
  h1 { margin: 0; padding: 9px 18px; background: #1d232e; color: #b6bdc9; font: 13px sans-serif }
  pre { margin: 0; padding: 14px 18px 18px; font: inherit; white-space: pre-wrap; word-break: break-all }
  .style-1 { color: #fff; font-weight: bold } .style-2 { color: #9aa3b0 } .style-31 { color: #ff8f88 }
  .style-32 { color: #7fd88f } .style-33 { color: #e6c069 } .style-35 { color: #d9a3f0 } .style-36 { color: #6fd3e3 }`;

/** Opens a window whose camera shows a drawn person. */
async function openPerson(browser: TestBrowser, person: string, options: WindowOptions): Promise<Page> {
  const window = await browser.openWindow(options);
  window.setDefaultTimeout(PATIENCE.timeout);
  await window.addInitScript(`globalThis.avatar = '${person}'`);
  await window.addInitScript({ path: join(import.meta.dirname, 'support/avatars.js') });
  return await window.newPage();
}

const PLAYING = "[...document.querySelectorAll('video')].filter(({ videoWidth }) => videoWidth > 0).length";

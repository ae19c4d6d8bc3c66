import type { Page } from 'playwright-core';
import { RtcClient } from '../../src/client/client.ts';
import { run } from '../../test/cli/support/run.ts';
import { startStack } from '../../test/cli/support/stack.ts';
import { LOOPBACK_ALLOWED } from '../../test/server/webhooks/support/hooked-service.ts';
import { startReceiver } from '../../test/server/webhooks/support/receiver.ts';
import { startBrowser } from '../../test/support/parts/browser.ts';
import { LAUNCHER } from '../../test/support/parts/built.ts';
import { percentile } from '../support/statistics.ts';

/*
 * `node proof/benches/console.ts`, after `npm run build`, measures how smoothly the console scrolls with 500 rooms and 10,000
 * deliveries. It scrolls both tables in Chromium and prints the time between two frames (16.7 ms are 60 frames a second),
 * and the processor time of the page for a frame, which other load on the machine hardly changes. The deliveries are
 * scrolled twice: while the list still loads more of them, and after it has all. Each processor time is also given as a
 * multiple of that of a plain list of 10,000 lines of text, which is scrolled first.
 */

const ROOMS = 500;
const DELIVERIES = 10_000;

/** Scrolls down and back, one and a half rows for each frame. Resolves to the milliseconds between frames. */
const SCROLL = `new Promise((resolve) => {
    const table = document.querySelector('.table-scroll');
    const times = [];
    let last = performance.now();
    let left = 600;
    const step = (now) => {
      times.push(now - last);
      last = now;
      table.scrollTop += left > 300 ? 66 : -66;
      left -= 1;
      if (left === 0) resolve(times.slice(1));
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`;

/** Scrolls to the end again and again, like a user who holds the End key, until nothing more is loaded. */
const SCROLL_TO_END = `new Promise((resolve) => {
    const table = document.querySelector('.table-scroll');
    const count = document.querySelector('#deliveries-title .count');
    const step = () => {
      table.scrollTop = table.scrollHeight;
      if (count.textContent.endsWith('+')) requestAnimationFrame(step);
      else {
        table.scrollTop = table.scrollHeight / 2;
        requestAnimationFrame(resolve);
      }
    };
    step();
  })`;

const stack = await startStack({ environment: LOOPBACK_ALLOWED });
const client = new RtcClient(stack.service);
const receiver = await startReceiver();
const browser = await startBrowser();
const stopping = new AbortController();
try {
  const { id } = await client.webhooks.create({ url: receiver.url, events: ['participant_joined'] });
  console.log(`filling ${ROOMS} rooms with ${DELIVERIES} participants`);
  for (let index = 0; index < DELIVERIES; index += 1) {
    stack.media.control.join(`room-${index % ROOMS}`, { identity: `person-${index}` });
    if (index % ROOMS === 0) await stack.media.control.webhooksSettled();
  }
  await stack.media.control.webhooksSettled();
  const { page, close } = await openConsole();
  await page.getByText(`${ROOMS} open`).waitFor({ timeout: 120_000 });
  const floorMs = await measurePlainList(page);
  await measure(page, { name: 'rooms', floorMs });
  await page.goto(new URL(`/webhooks/${id}`, page.url()).href);
  await page.getByRole('table').waitFor({ timeout: 120_000 });
  await measure(page, { name: 'deliveries while they load', floorMs });
  const count = page.locator('#deliveries-title .count');
  console.log(`deliveries loaded: ${await count.textContent()}`);
  const { milliseconds } = await processorTime(page, () => page.evaluate(SCROLL_TO_END));
  console.log(
    `all are loaded: ${await count.textContent()}, with ${Math.round(milliseconds)} ms of processor time`,
  );
  await measure(page, { name: 'all deliveries', floorMs });
  await close();
} finally {
  stopping.abort();
  await browser.close();
  await client.close();
  await stack.close();
  await receiver.close();
}

async function openConsole() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const ended = run(['console', '--print'], {
    launcher: LAUNCHER,
    signal: stopping.signal,
    env: stack.environment,
    onStdout: (text) => {
      if (text.endsWith('\n')) resolve(text.trim());
    },
  });
  const link = await promise;
  const window = await browser.openWindow();
  const page = await window.newPage();
  const startedAt = performance.now();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Rooms' }).waitFor();
  console.log(`first view after ${Math.round(performance.now() - startedAt)} ms`);
  return {
    page,
    close: async () => {
      await window.close();
      stopping.abort();
      await ended;
    },
  };
}

/** Returns the processor time for a frame of a list without any code, in a page of its own. */
async function measurePlainList(page: Page): Promise<number> {
  const plain = await page.context().newPage();
  const lines = Array.from({ length: DELIVERIES }, (_, index) => `<p>line ${index}</p>`).join('');
  await plain.setContent(`<div class="table-scroll" style="height: 90vh; overflow: auto">${lines}</div>`);
  const { value: times, milliseconds } = await processorTime(plain, () =>
    plain.evaluate<readonly number[]>(SCROLL),
  );
  await plain.close();
  const each = milliseconds / times.length;
  console.log(`a plain list: ${each.toFixed(2)} ms of processor time for each frame`);
  return each;
}

type Measured = { readonly name: string; readonly floorMs: number };

async function measure(page: Page, { name, floorMs }: Measured): Promise<void> {
  const { value: times, milliseconds } = await processorTime(page, () =>
    page.evaluate<readonly number[]>(SCROLL),
  );
  const at = (share: number): string => percentile(times, share).toFixed(1);
  console.log(
    `${name}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(0.999)} ms between frames; ` +
      `${(milliseconds / times.length).toFixed(1)} ms of processor time each, ` +
      `${(milliseconds / times.length / floorMs).toFixed(1)} times a plain list`,
  );
}

/** Returns the processor time of the page's main thread for the work. */
async function processorTime<T>(page: Page, work: () => Promise<T>) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const before = await read();
  const value = await work();
  const milliseconds = (await read()) - before;
  await session.detach();
  return { value, milliseconds };
}

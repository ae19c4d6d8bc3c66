import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinCall, openLink } from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

/*
 * How fast the pages are seen, and whether something moves then. The times are printed and kept in .cache/page-figures.json;
 * only what does not depend on the machine is expected.
 */

/** Runs in the page before its own scripts. */
const OBSERVE = `
  globalThis.figures = { paintMs: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) figures.paintMs = Math.round(startTime);
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) figures.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** The addresses that are requested once something is seen. */
const LATER = `performance.getEntriesByType('resource')
  .filter(({ startTime }) => startTime > performance.getEntriesByName('first-contentful-paint')[0].startTime)
  .map(({ name }) => name)`;

const MOST_SHIFT = 0.05;
const MOST_ROOM_BYTES = 200_000;

type Figures = {
  readonly paintMs: number;
  readonly shift: number;
  /** Of scripts, styles and the page itself at the first load. */
  readonly gzippedBytes: number;
};

describe('the pages at their first load', () => {
  let stage: Stage;
  const measured: Record<string, Figures> = {};

  beforeAll(async () => {
    stage = await startStage();
    await stage.enter('demo', 'ada');
    await stage.client.webhooks.create({ url: 'https://example.org/hooks' });
  });

  afterAll(async () => {
    const text = JSON.stringify(measured, null, 2);
    await writeFile(join(import.meta.dirname, '../../.cache/page-figures.json'), `${text}\n`);
    process.stdout.write(`${text}\n`);
    await stage?.close();
  });

  /** Opens the page in a new window, and returns its figures once it is as the reader waits for it. */
  const measure = async (name: string, url: string, isReady: (page: Page) => Promise<void>) => {
    const window = await stage.browser.openWindow();
    await window.addInitScript(OBSERVE);
    const page = await window.newPage();
    const bodies: Promise<readonly [url: string, gzipped: number]>[] = [];
    page.on('response', (response) => {
      if (!['document', 'script', 'stylesheet'].includes(response.request().resourceType())) return;
      const sized = response.body().then(
        (body) => [response.url(), gzipSync(body).length] as const,
        () => [response.url(), 0] as const,
      );
      bodies.push(sized);
    });
    await page.goto(url);
    await isReady(page);
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    );
    // What is loaded later, such as the code of the call behind the pre-join page, does not count.
    const later = new Set(await page.evaluate<readonly string[]>(LATER));
    const first = (await Promise.all([...bodies])).filter(([loaded]) => !later.has(loaded));
    const gzippedBytes = first.reduce((sum, [, bytes]) => sum + bytes, 0);
    const read: Omit<Figures, 'gzippedBytes'> = await page.evaluate('figures');
    measured[name] = { ...read, shift: Math.round(read.shift * 1000) / 1000, gzippedBytes };
    expect(read.shift, `${name} moves while it is loaded`).toBeLessThan(MOST_SHIFT);
    return { window, page };
  };

  it('show the room with less than 200 kB, and the call without moving', async () => {
    const { url, apiKey, apiSecret } = stage.service;
    const environment = { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret };
    const room = await openLink(['rooms', 'open', 'demo', '--print'], environment);
    const { window, page } = await measure('the page of a room', room.link, (opened) =>
      opened.getByRole('button', { name: 'Join', exact: true }).waitFor(),
    );
    expect(measured['the page of a room']?.gzippedBytes).toBeLessThan(MOST_ROOM_BYTES);
    await joinCall(page);
    await window.close();
    await room.close();
  });

  it('show the overview of the console', async () => {
    const { window } = await measure('the console', stage.console.link, (page) =>
      page.getByRole('region', { name: 'Workers' }).getByText('No recording runs').waitFor(),
    );
    await window.close();
  });

  it.each([
    ['the reference', '/docs'],
    ['an operation of the reference', '/docs/api/createRoom'],
    ['a page of the guide', '/docs/guide/webhooks'],
  ])('show %s', async (name, path) => {
    const { window } = await measure(name, `${stage.service.url}${path}`, (page) =>
      page.getByRole('heading', { level: 1 }).waitFor(),
    );
    await window.close();
  });
});

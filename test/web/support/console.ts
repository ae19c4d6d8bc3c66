import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { run } from '../../cli/support/run.ts';
import type { TestBrowser, WindowOptions } from '../../support/parts/browser.ts';
import { LAUNCHER } from '../../support/parts/built.ts';

export type OpenedConsole = {
  readonly link: string;
  /** Ends the command, like Ctrl-C. */
  readonly close: () => Promise<void>;
};

type Service = { readonly url: string; readonly apiKey: string; readonly apiSecret: string };

/** Runs `rtc console --print` against a service, with further options. */
export function openConsole(service: Service, options: readonly string[] = []): Promise<OpenedConsole> {
  return openLink(['console', '--print', ...options], makeEnvironment(service));
}

/** Joins from the pre-join page of a room. */
export async function joinCall(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('button', { name: 'Leave' }).waitFor();
}

function makeEnvironment(service: Service): Readonly<Record<string, string>> {
  return { RTC_URL: service.url, RTC_API_KEY: service.apiKey, RTC_API_SECRET: service.apiSecret };
}

/** Runs a command that prints the link of a page and serves it until it is closed. */
export async function openLink(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<OpenedConsole> {
  const stopping = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const ended = run(words, {
    launcher: LAUNCHER,
    signal: stopping.signal,
    env: { USER: 'operator', ...environment },
    onStdout: (text) => {
      if (text.endsWith('\n')) resolve(text.trim());
    },
  });
  ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  const link = await promise;
  return {
    link,
    close: async () => {
      stopping.abort();
      await ended;
    },
  };
}

export type OpenedView = { readonly window: BrowserContext; readonly page: Page };

/** Opens a browser window with the console, at its list of rooms. */
export async function openView(
  browser: TestBrowser,
  console: OpenedConsole,
  options?: WindowOptions,
): Promise<OpenedView> {
  const window = await browser.openWindow(options);
  const page = await window.newPage();
  await page.goto(console.link);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Rooms', exact: true }).click();
  return { window, page };
}

/** Returns the address of a view of the console. */
export function readView({ link }: OpenedConsole, path: string): string {
  return new URL(path, link).href;
}

/** Expects no finding of axe in the current page, of any severity, and goes on to the next. */
export async function expectAccessible(page: Page): Promise<void> {
  expect.soft(await readFindings(page), await page.title()).toEqual([]);
}

/** Returns axe's findings in the current page, of every severity. */
export async function readFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<readonly string[]>(`axe.run().then(({ violations }) => violations
    .map(({ id, impact, nodes }) => impact + ' ' + id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' ')))`);
}

/** Presses the confirming button of an open dialog. */
export async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
}

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { expectAccessible, readFindings } from './support/console.ts';

/** The viewer is a script of four megabytes. */
const BUSY_MACHINE_MS = 100_000;
const CREATE_ROOM = '/docs/api/createRoom';
/** With an empty corner of a table, a list to tick, and a heading that is named like a part of the page. */
const GUIDES = ['comparison', 'production', 'transcription'].map((page) => `/docs/guide/${page}`);

describe('the reference in a real browser', () => {
  let service: TestService;
  let browser: TestBrowser;

  beforeAll(async () => {
    service = await startTestService({ livekit: await sharedLivekit() });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const openPage = async (path: string, colorScheme: 'light' | 'dark' = 'light', width = 1440) => {
    const window = await browser.openWindow({ colorScheme, width });
    window.setDefaultTimeout(BUSY_MACHINE_MS);
    const page = await window.newPage();
    const errors = collectErrors(page);
    await page.goto(`${service.url}${path}`);
    return { page, errors, close: () => window.close() };
  };

  const openTrial = async (page: Page) => {
    await page.getByRole('link', { name: 'Test request' }).click();
    const send = page.getByRole('button', { name: /^Send/ }).first();
    await send.waitFor();
    return send;
  };

  it('signs a request of the user, and keeps the secret only in memory', async () => {
    const { page, errors, close } = await openPage(CREATE_ROOM);
    const send = await openTrial(page);
    await send.click();
    await page.getByLabel('API key').fill(service.apiKey);
    await page.getByLabel('API secret').fill(service.apiSecret);
    await page.getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByText('201 Created').first().waitFor();
    expect((await service.call('GET', '/v1/rooms/demo')).status).toBe(200);

    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.body.innerHTML])',
    );
    expect(kept).not.toContain(service.apiSecret);
    expect(await page.evaluate('indexedDB.databases().then((all) => all.length)')).toBe(0);
    expect(await page.getByLabel('API secret').inputValue()).toBe('');
    expect(errors).toEqual([]);
    await page.reload();
    await page.locator('#sign-button:text("Sign requests")').waitFor({ state: 'attached' });
    await close();
  });

  it('sends a request unsigned when the key is not given, and shows the problem', async () => {
    const { page, close } = await openPage(CREATE_ROOM);
    const send = await openTrial(page);
    await send.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('401 Unauthorized').first().waitFor();
    await close();
  });

  it.each([390, 1440])('has no finding of axe in a request of the user, %i wide', async (width) => {
    const { page, close } = await openPage(CREATE_ROOM, width === 390 ? 'light' : 'dark', width);
    const send = await openTrial(page);
    await expectAccessible(page);
    await send.click();
    await page.getByLabel('API key').fill(service.apiKey);
    await page.getByLabel('API secret').fill(service.apiSecret);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByText('201 Created').first().waitFor();
    await page.locator('.cm-content').getByText('"sid"').first().waitFor();
    // The viewer adds elements, which are corrected in the next frame.
    await expect.poll(() => readFindings(page)).toEqual([]);
    await close();
  });

  it.each(['light', 'dark'] as const)('has no finding of axe in %s', async (colorScheme) => {
    const found: unknown[] = [];
    for (const path of ['/docs', CREATE_ROOM, '/docs/api/listEvents', '/docs/guide', ...GUIDES])
      for (const width of [390, 1024, 1440]) {
        const { page, close } = await openPage(path, colorScheme, width);
        const findings = await readFindings(page);
        found.push(...findings.map((finding) => [path, width, finding]));
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        if (overflow !== 0) found.push([path, width, 'wider than the window']);
        await close();
      }
    expect(found).toEqual([]);
  });

  it('leads back from the form to the description of the operation', async () => {
    const { page, close } = await openPage(CREATE_ROOM);
    await openTrial(page);
    await page.locator('.scalar-app-exit').click({ position: { x: 8, y: 8 } });
    await page.getByRole('heading', { name: 'Response 201' }).waitFor();
    await close();
  });

  it('is searched by the keyboard, without a request for each word', async () => {
    const { page, errors, close } = await openPage('/docs');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('signature is refused');
    await page.getByText('When a signature is refused').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/docs/guide/signing#when-a-signature-is-refused`);
    expect(errors).toEqual([]);
    await close();
  });

  it('is dark or light as the reader chooses, on every page', async () => {
    const { page, close } = await openPage('/docs', 'light');
    const button = page.getByRole('button', { name: /^Colours/ });
    await button.click();
    await button.click();
    await page.goto(`${service.url}/docs/guide`);
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    await expectAccessible(page);
    await close();
  });

  it('has all pages behind its menu on a telephone', async () => {
    const { page, close } = await openPage(CREATE_ROOM, 'light', 390);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await close();
  });

  it('can be read without scripts', async () => {
    const window = await browser.openWindow({ javaScriptEnabled: false });
    const page = await window.newPage();
    await page.goto(`${service.url}/docs`);
    await page.getByRole('link', { name: 'Create a room, or get the existing one' }).last().click();
    await page.getByRole('heading', { name: 'Response 201' }).waitFor();
    await page.getByRole('link', { name: 'Guide', exact: true }).first().click();
    await page.getByRole('link', { name: 'Sign requests' }).first().click();
    await page.getByRole('heading', { name: 'When a signature is refused' }).waitFor();
    await window.close();
  });
});

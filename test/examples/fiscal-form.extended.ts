import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';

const ROOT = join(import.meta.dirname, '../..');
const CODE = 'RSSMRA80B01H501T';

let folder: string;
let server: PreviewServer;
let browser: TestBrowser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fiscal-form-'));
  const shared = { configFile: false, root: join(ROOT, 'examples/fiscal-form'), logLevel: 'error' } as const;
  await build({
    ...shared,
    build: { outDir: folder, emptyOutDir: true },
    resolve: { alias: { '@rtc-service/fiscal': join(ROOT, 'src/fiscal/index.ts') } },
  });
  server = await preview({ ...shared, build: { outDir: folder }, preview: { port: 0, host: '127.0.0.1' } });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const openOnPhone = async (colorScheme: 'light' | 'dark' = 'light') => {
  const window = await browser.openWindow({
    width: 390,
    height: 844,
    colorScheme,
    hasTouch: true,
    isMobile: true,
  });
  const page = await window.newPage();
  const errors = collectErrors(page);
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  return { page, errors };
};

const readNote = (page: Page, field: string) => page.locator(`#${field}-note`).textContent();

describe('the form of the example on a phone', () => {
  it('checks a code during typing, and marks errors', async () => {
    const { page, errors } = await openOnPhone();
    const code = page.getByRole('textbox', { name: 'Codice fiscale' });
    await code.pressSequentially('rssmra80b01');
    expect(await readNote(page, 'code')).toBe('11 caratteri su 16');
    await code.pressSequentially('h501x');
    expect(await readNote(page, 'code')).toBe(
      'Il carattere di controllo non corrisponde ai quindici che lo precedono. Sarebbe T.',
    );
    expect(await page.locator('#code-shown mark').allTextContents()).toEqual(['X']);
    await page.keyboard.press('Backspace');
    await page.keyboard.press('t');
    expect(await readNote(page, 'code')).toBe('Il codice fiscale è formalmente corretto.');
    expect(errors).toEqual([]);
  });

  it('fills in sex, date and place from the code, except for typed fields', async () => {
    const { page } = await openOnPhone();
    await page.getByLabel('Data di nascita').fill('1980-02-02');
    await page.getByRole('textbox', { name: 'Codice fiscale' }).fill(` ${CODE.toLowerCase()} `);
    expect(await page.getByLabel('Maschio').isChecked()).toBe(true);
    expect(await page.getByRole('combobox').inputValue()).toBe('ROMA (RM)');
    expect(await page.getByLabel('Data di nascita').inputValue()).toBe('1980-02-02');
    await page.getByLabel('Cognome').fill('Rossi');
    await page.getByLabel('Nome', { exact: true }).fill('Mario');
    expect(await page.locator('#result-text').textContent()).toBe(
      'Il codice fiscale non corrisponde ai dati: giorno di nascita.',
    );
    await page.getByLabel('Data di nascita').fill('1980-02-01');
    expect(await page.locator('#result-text').textContent()).toBe('Il codice fiscale corrisponde ai dati.');
  });

  it("generates the code of a person's data, with the place found during typing", async () => {
    const { page, errors } = await openOnPhone('dark');
    const colours =
      "['color', 'backgroundColor'].map((name) => getComputedStyle(document.documentElement)[name])";
    expect(await page.evaluate(colours)).toEqual(['rgb(232, 237, 244)', 'rgb(17, 21, 27)']);
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByLabel('Surname').fill('Rossi');
    await page.getByLabel('Given name').fill('Mario');
    await page.getByText('Male', { exact: true }).click();
    await page.getByLabel('Date of birth').fill('1980-02-01');
    await page.getByRole('combobox').pressSequentially('rom');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('#result-code').textContent()).toBe(CODE);
    await page.getByRole('button', { name: 'Use this code' }).click();
    expect(await page.locator('#result-text').textContent()).toBe('The code fits the data.');
    expect(errors).toEqual([]);
  });

  it('selects the tapped place, without arrow keys', async () => {
    const { page, errors } = await openOnPhone();
    await page.getByRole('textbox', { name: 'Codice fiscale' }).tap();
    await page.keyboard.type(CODE);
    await page.getByRole('combobox').fill('');
    await page.getByRole('combobox').tap();
    await page.keyboard.type('san giu');
    await page.getByRole('option').first().tap();
    expect(await page.getByRole('combobox').inputValue()).toBe('SAN GIULIANO MILANESE (MI)');
    await page.getByText('Femmina', { exact: true }).tap();
    await page.getByLabel('Cognome').fill('Rossi');
    await page.getByLabel('Nome', { exact: true }).fill('Mario');
    expect(await page.locator('#result-text').textContent()).toBe(
      'Il codice fiscale non corrisponde ai dati: sesso, comune o stato estero di nascita.',
    );
    expect(errors).toEqual([]);
  });

  it('is no wider than the phone, and has controls that a thumb can hit', async () => {
    const { page } = await openOnPhone();
    await page.getByRole('textbox', { name: 'Codice fiscale' }).fill('RSSMRA80B01H501X');
    await page.getByRole('combobox').pressSequentially('san');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    for (const control of await page
      .locator('input:not([type=radio]):visible, button:visible, .choice label')
      .all()) {
      expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
  });
});

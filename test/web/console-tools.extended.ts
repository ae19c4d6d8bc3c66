import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RtcClient } from '../../src/client/client.ts';
import { collectErrors, type TestBrowser } from '../support/parts/browser.ts';
import { type Redis, startRedis } from '../support/parts/redis.ts';
import {
  confirm,
  expectAccessible,
  type OpenedConsole,
  openConsole,
  openView,
  readView,
} from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

describe('ingress, doctor and fiscal codes in the console', () => {
  let redis: Redis;
  let stage: Stage;
  let client: RtcClient;
  let browser: TestBrowser;
  let console: OpenedConsole;

  beforeAll(async () => {
    redis = await startRedis();
    stage = await startStage({ media: { redis, ingressRtmpUrl: 'rtmp://media.example.org:1935/live' } });
    ({ client, browser, console } = stage);
  });

  afterAll(async () => {
    await stage?.close();
    await redis?.close();
  });

  it('creates an ingress, shows the settings of OBS, and deletes it', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Ingress' }).click();
    await page.getByLabel('Room that is streamed into').fill('studio');
    await page.getByText('Nothing streams into studio').waitFor();
    await page.getByRole('button', { name: 'Create an ingress' }).click();
    await page.getByLabel('Name that others see').fill('Camera 1');
    await page.getByText("rtc ingress create studio --type rtmp --name 'Camera 1'").waitFor();
    await confirm(page, 'Create');
    const card = page.getByRole('region', { name: 'Camera 1' });
    await card.getByText('rtmp://media.example.org:1935/live').waitFor();
    await card.getByText('Waiting for a stream').waitFor();
    const [ingress] = (await client.ingress.list('studio')).ingress;
    expect(await card.getByText(ingress?.streamKey ?? '').count()).toBe(0);
    await card.getByRole('button', { name: 'Show' }).click();
    await card.getByText(ingress?.streamKey ?? '').waitFor();
    await expectAccessible(page);
    await card.getByRole('button', { name: `Delete ${ingress?.ingressId}` }).click();
    await confirm(page, 'Delete the ingress');
    await page.getByText('Nothing streams into studio').waitFor();
    expect((await client.ingress.list('studio')).ingress).toEqual([]);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('checks the service as rtc doctor does, repeatedly and with a probe', async () => {
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/doctor'));
    const check = (name: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
    await check('signature').getByText('ok', { exact: true }).waitFor();
    await check('events').getByText('skipped').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Run again' }).click();
    await check('media server').getByText('ok', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Try webhooks and recording' }).click();
    await confirm(page, 'Try them');
    await check('events').getByText('ok', { exact: true }).waitFor({ timeout: 60_000 });
    await check('recording').getByText('Next:').waitFor();
    // The refresh after the change does not undo it.
    await page.getByRole('button', { name: 'Run again' }).and(page.locator(':enabled')).waitFor();
    await check('events').getByText('ok', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run again' }).click();
    await check('events').getByText('skipped').waitFor();
    await window.close();
  });

  it('generates a code with a birthplace by the names of the birth date, and decodes codes', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Fiscal codes' }).click();
    await page.getByLabel('Surname').fill('Rossi');
    await page.getByLabel('Given names').fill('Mario');
    expect(await page.getByLabel('Sex').inputValue()).toBe('');
    await page.getByLabel('Sex').selectOption('M');
    await page.getByLabel('Birth date').fill('1980-02-01');
    await page.getByRole('combobox', { name: 'Birthplace' }).fill('rom');
    await page.getByRole('option', { name: 'ROMA (RM)' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByText('RSSMRA80B01H501T', { exact: true }).waitFor();

    const code = page.getByRole('textbox', { name: 'Fiscal code' });
    await code.fill('rssmra85t10a562s');
    await page.getByText('Valid', { exact: true }).waitFor();
    await page.getByText('SAN GIULIANO TERME (PI)').waitFor();
    await page.getByText('Compare with a person').click();
    await page.getByLabel('Known surname').fill('Rossi');
    await page.getByLabel('Known given names').fill('Maria');
    await page.getByText('Matches', { exact: true }).waitFor();
    await page.getByText('many people share these letters').waitFor();
    await page.getByLabel('Known birth date').fill('1985-12-11');
    await page.getByText('day of birth: 10 in the code, 11 of the person').waitFor();
    await page.getByLabel('Known birth date').fill('');
    await page.getByLabel('Known sex').selectOption('F');
    await page.getByText('sex: M in the code, F of the person').waitFor();
    await page.getByLabel('Known sex').selectOption('');
    await page.getByRole('combobox', { name: 'Known birthplace' }).fill('pisa');
    await page.keyboard.press('Enter');
    await page.getByText('birthplace: A562 in the code, G702 of the person').waitFor();
    await expectAccessible(page);
    await code.fill('RSSMRA85T10A562T');
    await page.getByText('Not valid').waitFor();
    await code.fill('<img src=x onerror=alert(1)>');
    await page.getByText('Not valid').waitFor();
    await expectAccessible(page);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('speaks Italian in an Italian browser, in a narrow window without an empty end', async () => {
    const { window, page } = await openView(browser, console, {
      locale: 'it-IT',
      width: 390,
      height: 844,
    });
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Codici fiscali' }).click();
    await page.getByRole('textbox', { name: 'Codice fiscale' }).fill('RSSMRA85T10A562T');
    await page.getByRole('button', { name: 'Copiare rtc cf check RSSMRA85T10A562T --lang it' }).waitFor();
    await page.getByText('il carattere di controllo non corrisponde').waitFor();
    await page.getByLabel('Cognome', { exact: true }).fill('Rossi');
    await page.getByLabel('Nome o nomi').fill('M4rio');
    await page.getByLabel('Sesso').selectOption('M');
    await page.getByLabel('Data di nascita').fill('1980-02-01');
    await page.getByRole('combobox', { name: 'Luogo di nascita' }).fill('rom');
    await page.getByRole('option', { name: 'ROMA (RM)' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('il nome contiene un carattere non ammesso').waitFor();
    await page.getByLabel('Scegliere un file').setInputFiles({
      name: 'persone.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Cognome;Nome;Sesso;Data di nascita;Comune di nascita\nBianchi;Luca;M;;Milano'),
    });
    await page.getByRole('cell', { name: 'manca la data di nascita' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    await expectAccessible(page);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('generates the codes of a whole file in the browser, in Italian and in Windows-1252', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.goto(readView(console, '/fiscal'));
    const rows = [
      'Cognome;Nome;Sesso;Data di nascita;Comune di nascita',
      'Rossi;Mario;M;01/02/1980;Roma',
      'Nicol\u00f2;Anna;F;3/4/1991;Forl\u00ec',
      'Bianchi;Luca;M;30/02/1980;Milano',
    ];
    await page.getByLabel('Choose a file').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(rows.join('\r\n'), 'latin1'),
    });
    const result = page.getByText('Download the file with its codes');
    await result.waitFor();
    await page.getByRole('cell', { name: '4', exact: true }).waitFor();
    await expectAccessible(page);
    const [download] = await Promise.all([page.waitForEvent('download'), result.click()]);
    expect(download.suggestedFilename()).toBe('people-codes.csv');
    const lines = (await readFile(await download.path(), 'utf8')).split('\n');
    expect(lines[1]).toContain('RSSMRA80B01H501T;ROMA');
    expect(lines[2]).toMatch(/^Nicol\u00f2;.*;NCLNNA91D43D704\w;FORL/);
    expect(lines[3]).toMatch(/;;;;the birth date/);
    expect(errors).toEqual([]);
    await window.close();
  });

  it('never sends a fiscal code anywhere', async () => {
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/fiscal'));
    const paths: string[] = [];
    page.on('request', (request) => paths.push(request.url() + (request.postData() ?? '')));
    await page.getByRole('textbox', { name: 'Fiscal code' }).fill('RSSMRA85T10A562S');
    await page.getByText('Valid', { exact: true }).waitFor();
    expect(paths.filter((text) => text.includes('RSSMRA'))).toEqual([]);
    await window.close();
  });

  it('loads little for its first view', async () => {
    const fresh = await openConsole(stage.service);
    const { window, page } = await openView(browser, fresh);
    const bytes = await page.evaluate(
      "performance.getEntriesByType('resource').reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)",
    );
    // Uncompressed, which is three times the gzipped size.
    expect(bytes).toBeLessThan(900_000);
    await window.close();
    await fresh.close();
  });
});

import { describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

const rtc = (...words: readonly string[]) => run(['it', ...words]);
const listLines = (stdout: string) => stdout.trimEnd().split('\n');

describe('rtc it', () => {
  it('lists the regions with their provinces', async () => {
    const { code, stdout } = await rtc('regions');
    expect([code, listLines(stdout).length]).toEqual([0, 20]);
    expect(listLines(stdout)).toContain('Umbria\tPG TR');
    const [first] = JSON.parse((await rtc('regions', '--json')).stdout);
    expect(first.provinces[0]).toEqual({ name: 'Torino', abbreviation: 'TO' });
  });

  it('lists the provinces with their capitals, as JSON the fields of the API', async () => {
    const { stdout } = await rtc('provinces');
    expect(listLines(stdout)).toContain('MB\tMonza e della Brianza\tMONZA\tF704');
    const records = JSON.parse((await rtc('provinces', '--json')).stdout);
    expect(Object.keys(records[0])).toEqual([
      'code',
      'belfiore_code',
      'province',
      'name',
      'from',
      'to',
      'current',
    ]);
  });

  it('lists the places of a province, those of today with --current', async () => {
    const all = listLines((await rtc('cities', 'bo')).stdout);
    expect(all).toContain('D158\tCRESPELLANO\tBO\tM320');
    const current = listLines((await rtc('cities', 'BO', '--current')).stdout);
    expect(current).toContain('M320\tVALSAMOGGIA\tBO\tM320');
    expect(current.length).toBeLessThan(all.length);
    expect(current.some((line) => line.startsWith('D158'))).toBe(false);
  });

  it('lists the comuni of a province of Sardinia that only ISTAT has', async () => {
    const lines = listLines((await rtc('cities', 'CI', '--current', '--q', 'teul', '--details')).stdout);
    expect(lines).toEqual(['L154\tTEULADA\tSU\tL154\tCI']);
    const [found] = JSON.parse((await rtc('find', 'teulada', '--details', '--json')).stdout);
    expect(found.istatProvince).toMatchObject({ abbreviation: 'CI', validFrom: '2026-01-01' });
  });

  it('finds the comune of a postal code, and names the frazioni that have it', async () => {
    const lines = listLines((await rtc('find', '58018')).stdout);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^F437\tMONTE ARGENTARIO\tGR\t.*\tPORTO ERCOLE$/);
    expect(listLines((await rtc('find', '58019')).stdout)[0]).not.toContain('PORTO');
  });

  it('finds places by the beginning of a name, with their history', async () => {
    const found = listLines((await rtc('find', 'san', 'giu', '--limit', '1')).stdout);
    expect(found[0]).toContain('H930\tSAN GIULIANO MILANESE\tMI');
    const [mestre] = JSON.parse((await rtc('find', 'mestre', '--date', '1970-01-01', '--json')).stdout);
    expect(mestre).toMatchObject({
      place: { codiceCatastale: 'F159' },
      successors: [{ name: 'VENEZIA', source: 'istat' }],
    });
    expect(await rtc('find', 'mestre', '--date', '1970-02-30')).toMatchObject({ code: 2 });
  });

  it('lists postal codes with five digits, as integers in JSON', async () => {
    expect(listLines((await rtc('caps', 'RM', 'Roma')).stdout)[0]).toBe('00118');
    expect(JSON.parse((await rtc('caps', 'RM', 'Roma', '--json')).stdout)[0]).toBe(118);
  });

  it('names the sources of the data', async () => {
    const sources = JSON.parse((await rtc('--sources', '--json')).stdout);
    expect(sources.version).toMatch(/^\d{4}-\d\d$/);
    expect(sources.notice).toContain('CC BY 4.0');
    expect((await rtc('--sources')).stdout).toContain('ISTAT');
  });

  it.each([
    [['cities', 'XX'], 3, 'no province has the abbreviation "XX"'],
    [['caps', 'XX', 'Roma'], 3, 'no province has the abbreviation "XX"'],
    [['caps', 'RM', 'Romma'], 3, 'ROMA (RM) H501'],
    [['caps', 'EE', 'Francia'], 3, 'no postal codes are known'],
    [['caps', 'TN', 'San Martino'], 2, 'SAN MARTINO IN BADIA (BZ) H988'],
    [['caps', 'RM'], 2, 'missing CITY'],
    [['region'], 2, 'did you mean regions?'],
    [[], 2, 'missing a verb'],
    [['regions', '--json', 'nonsense'], 2, 'known fields: name, provinces'],
  ])('refuses %o', async (words, exitCode, message) => {
    const { code, stdout, stderr } = await rtc(...words);
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(stderr).toContain(message);
  });
});

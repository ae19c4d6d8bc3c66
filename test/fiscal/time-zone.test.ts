import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Decodes every vector for the day before, the day and the day after, and prints a digest of all results. */
const SCRIPT = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { check, decode, generate } from './src/fiscal/index.ts';
const digest = createHash('sha256');
for (const line of readFileSync('data/vectors/public.jsonl', 'utf8').trim().split('\\n')) {
  const { cf, input } = JSON.parse(line);
  for (const asOf of ['2026-11-20', '2026-11-21', '2026-11-22', { year: 2000, month: 3, day: 1 }]) {
    digest.update(JSON.stringify([check(cf, { asOf }), decode(cf, { asOf })]));
    if (input === undefined) continue;
    const { surname, name: givenName, gender: sex, city: birthplace, province } = input;
    digest.update(JSON.stringify(generate({ surname, givenName, sex, birthDate: input, birthplace, province }, { asOf })));
  }
}
console.log(new Date(2026, 6, 1).getTimezoneOffset(), digest.digest('hex'));
`;

const resultsIn = (zone: string): string[] => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, TZ: zone },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.trim().split(' ');
};

describe('the time zone', () => {
  it('changes no result', () => {
    const results = ['Pacific/Auckland', 'Europe/Rome', 'America/Los_Angeles'].map(resultsIn);
    expect(results.map(([offset]) => offset)).toEqual(['-720', '-120', '420']);
    expect(new Set(results.map(([, digest]) => digest)).size).toBe(1);
  });

  it('is read nowhere in the library', () => {
    for (const file of ['calendar-date', 'decode', 'generate', 'inspect-code', 'check-status']) {
      const source = readFileSync(new URL(`../../src/fiscal/${file}.ts`, import.meta.url), 'utf8');
      expect(source).not.toMatch(/\bnew Date\b|\bDate\.|\bIntl\b|toLocale/);
    }
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROLES } from '../../src/contract/choices.ts';
import { ROLE_GRANTS } from '../../src/server/rooms/participants.ts';
import { PAGES, ROOT } from './pages.ts';

/* The figures in the pages equal those in the code, and the pages are as short as they are meant to be. */

const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');

describe('the worked example of signing', () => {
  const [, example = ''] = page('signing.md').split('## An example to check yours with');
  const {
    requests,
  }: { requests: readonly { path: string; body: string; canonical: string; signature: string }[] } =
    JSON.parse(readFileSync(join(ROOT, 'data/vectors/signing.json'), 'utf8'));
  const vector = requests.find(({ body }) => body === '{"name":"demo"}');

  it('is one of the test vectors', () => {
    expect(example).toContain(`\`\`\`text\n${vector?.canonical}\n\`\`\``);
    expect(example).toContain(`\`${vector?.signature}\``);
  });

  it('prints its signature when its commands run in a shell', () => {
    const [, lines = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(example) ?? [];
    expect(execFileSync('sh', ['-c', lines], { encoding: 'utf8' })).toContain(vector?.signature);
  });
});

it('the table of roles has the grants that tokens get', () => {
  const rows = ROLES.map((role) => {
    const { grants, canMuteOthers } = ROLE_GRANTS[role];
    const { canPublish, canSubscribe, canPublishData, roomAdmin } = grants;
    const marks = [canPublish, canSubscribe, canPublishData, roomAdmin, canMuteOthers];
    return `| \`${role}\` | ${marks.map((isGranted) => (isGranted ? 'yes' : 'no')).join(' | ')} |`;
  });
  expect(page('roles.md')).toContain(`\n${rows.join('\n')}\n`);
});

const countWords = (path: string): number =>
  readFileSync(join(ROOT, path), 'utf8').split(/\s+/).filter(Boolean).length;

it('the readme counts the lines of the receiver, and has at most 1,100 words', () => {
  const [, lines] =
    /receiver\.js\) has (\d+) lines/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const receiver = readFileSync(join(ROOT, 'examples/receiver-js/receiver.js'), 'utf8');
  expect(Number(lines)).toBe(receiver.trimEnd().split('\n').length);
  expect(countWords('README.md')).toBeLessThanOrEqual(1_100);
});

it('the pages have at most 45,000 words, without the results of the proof', () => {
  const pages = PAGES.filter((path) => /^docs\/[\w-]+\.md$/.test(path));
  // The summary has the results of every experiment. `npm run prove` writes it.
  const [, summary = ''] = /^## Summary\n([\s\S]*?)^## /m.exec(page('proof.md')) ?? [];
  const words = pages.map(countWords).reduce((sum, count) => sum + count, -summary.split(/\s+/).length);
  expect(words).toBeLessThanOrEqual(45_000);
});

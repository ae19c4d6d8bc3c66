import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/parts/built.ts';

/* The site of files that `npm run docs -- --write` makes, at a path and beside an older version. */

let out: string;
let pages: readonly { readonly path: string; readonly html: string }[];

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'rtc-site-'));
  await mkdir(join(out, '0.0.9'));
  const options = ['--write', out, '--base', '/help', '--edit', 'https://example.org/edit/'];
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/docs.ts'), ...options]);
  const files = (await readdir(out, { recursive: true })).filter((file) => file.endsWith('.html'));
  pages = await Promise.all(
    files.map(async (path) => ({ path, html: await readFile(join(out, path), 'utf8') })),
  );
}, 120_000);
afterAll(() => rm(out, { recursive: true, force: true }));

const readVersion = async (): Promise<string> =>
  JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version;

/** Returns the file that a link of the site leads to. */
const toFile = (link: string): string =>
  join(out, link.replace(/^\/help\//, ''), link.endsWith('/') ? 'index.html' : '');

describe('the site of the documentation', () => {
  it('has a page for every page of docs and every operation, of which all links lead to a file', () => {
    expect(pages.length).toBeGreaterThan(100);
    const links = pages.flatMap(({ path, html }) =>
      [...html.matchAll(/ (?:href|src)="(\/[^"#]*)/g)].map(([, link = '']) => [path, link] as const),
    );
    expect(links.length).toBeGreaterThan(1_000);
    const broken = links.filter(([, link]) => !link.startsWith('/help/') || !existsSync(toFile(link)));
    expect(broken).toEqual([]);
  });

  it('finds by its search only what it has', async () => {
    const version = await readVersion();
    const sections: readonly { readonly path: string }[] = JSON.parse(
      await readFile(join(out, version, 'search.json'), 'utf8'),
    );
    expect(sections.length).toBeGreaterThan(300);
    const missing = sections.filter(({ path }) => {
      const [address = '', anchor] = path.split('#');
      const page = pages.find((each) => each.path === join(version, address, 'index.html'));
      return page === undefined || (anchor !== undefined && !page.html.includes(` id="${anchor}"`));
    });
    expect(missing).toEqual([]);
  });

  it('leads to the newest version, and lists the older one', async () => {
    const version = await readVersion();
    expect(JSON.parse(await readFile(join(out, 'versions.json'), 'utf8'))).toEqual([version, '0.0.9']);
    expect(await readFile(join(out, 'index.html'), 'utf8')).toContain(`url=/help/${version}/`);
    expect(pages.find(({ path }) => path === join(version, 'index.html'))?.html).toContain(
      'data-versions="/help/versions.json"',
    );
  });

  it('links to where a page is edited, and to no request that needs a service', () => {
    const webhooks = pages.find(({ path }) => path.endsWith('guide/webhooks/index.html'));
    expect(webhooks?.html).toContain('href="https://example.org/edit/docs/webhooks.md"');
    expect(pages.filter(({ html }) => html.includes('Test request'))).toEqual([]);
  });
});

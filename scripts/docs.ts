import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { preview } from 'vite';
import { loadConfig } from '../src/server/app/config/config.ts';
import { packageVersion } from '../src/server/app/package-root.ts';
import { startService } from '../src/server/app/service.ts';
import { systemClock, systemIds } from '../src/server/platform/clock.ts';
import { createLog } from '../src/server/platform/pino-log.ts';
import { isUpToDate, ROOT } from './build/output.ts';

/*
 * `npm run docs` serves the documentation as a site of files; `npm run docs -- --write FOLDER` writes it for any web server.
 * The pages are those that the service shows at /docs, so that there is one renderer and one search. They are saved below
 * their version; the versions that are in the folder already stay, and each page can choose among them.
 */

const { values } = parseArgs({
  options: {
    /** Writes into this folder and ends. */
    write: { type: 'string' },
    /** The path at which the folder will be, such as /rtc. */
    base: { type: 'string', default: '' },
    /** The address at which a file of the repository is edited, without its path. Without it no page has a link to edit it. */
    edit: { type: 'string' },
    port: { type: 'string', default: '4173' },
  },
});

const version = packageVersion(ROOT);

const home = `${values.base}/${version}/`;

const out = values.write ?? join(ROOT, '.cache', 'docs');

if (!(await isUpToDate()))
  spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' });

const count = await writeSite();

if (values.write === undefined) {
  const server = await preview({
    ...{ root: ROOT, configFile: false, appType: 'mpa', build: { outDir: out } },
    preview: { host: '127.0.0.1', port: Number(values.port) },
  });
  process.stdout.write(`${count} pages at ${server.resolvedUrls?.local[0]}\n`);
} else process.stdout.write(`${count} pages in ${out}\n`);

async function writeSite(): Promise<number> {
  const data = await mkdtemp(join(tmpdir(), 'rtc-docs-'));
  const config = loadConfig({
    API_KEY: 'key',
    API_SECRET: 'secret',
    PORT: '0',
    DATA_DIR: data,
    RATE_LIMIT_PUBLIC: '0',
  });
  const service = await startService(config, { log: createLog('fatal'), clock: systemClock, ids: systemIds });
  try {
    await rm(join(out, version), { recursive: true, force: true });
    return await savePages(service.url);
  } finally {
    await service.close();
    await rm(data, { recursive: true });
    await writeVersions();
  }
}

/** Saves everything that the pages lead to. Requests cannot be tried out without a service. */
async function savePages(url: string): Promise<number> {
  const paths = new Set(['/docs', '/docs/search.js', '/docs/search.json', '/openapi.json', '/llms.txt']);
  let pages = 0;
  for (const path of paths) {
    const response = await fetch(`${url}${path}`);
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    const text = await response.text();
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    if (isPage) pages += 1;
    if (isPage) for (const linked of listLinks(text)) paths.add(linked);
    await save(path, convert(path, text));
  }
  return pages;
}

function listLinks(html: string): readonly string[] {
  return [...html.matchAll(/ (?:href|src)="(\/docs[^"#]*)/g)]
    .map(([, path = '']) => path)
    .filter((path) => !path.startsWith('/docs/try/'));
}

async function save(path: string, text: string): Promise<void> {
  const address = toAddress(path);
  const saved = join(out, version, address.slice(home.length), address.endsWith('/') ? 'index.html' : '');
  await mkdir(dirname(saved), { recursive: true });
  await writeFile(saved, text);
}

/** Returns the address on the site of a path of the service. That of a page ends with a slash, as that of a folder. */
function toAddress(path: string): string {
  const rest = path.replace(/^\/docs(?=\/|$)/, '').replace(/^\//, '');
  return `${home}${rest}${rest === '' || rest.includes('.') ? '' : '/'}`;
}

function convert(path: string, text: string): string {
  if (path === '/docs/search.json') return convertSections(text);
  return text
    .replaceAll(/<p><a class="button" href="\/docs\/try\/.*?<\/p>\n?/g, '')
    .replaceAll(/(?<= (?:href|src)="|\]\()(\/[^"#)]*)/g, (_, linked: string) => toAddress(linked))
    .replace('<html ', `<html data-versions="${values.base}/versions.json" `)
    .replace(/<p class="source">.*?<code>(.*?)<\/code>.*?<\/p>/, (source, file: string) =>
      values.edit === undefined
        ? source
        : `<p class="source"><a href="${values.edit}${file}">Edit this page</a></p>`,
    );
}

function convertSections(text: string): string {
  const sections: readonly { readonly path: string }[] = JSON.parse(text);
  return JSON.stringify(
    sections.map(({ path, ...section }) => ({ ...section, path: path.replace(/(?=#|$)/, '/') })),
  );
}

/** Lists the versions in the folder, the newest first, and leads from the folder to it. */
async function writeVersions(): Promise<void> {
  const entries = await readdir(out, { withFileTypes: true });
  const versions = entries
    .filter((entry) => entry.isDirectory() && /^\d+\.\d+\.\d+/.test(entry.name))
    .map(({ name }) => name)
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  await writeFile(join(out, 'versions.json'), JSON.stringify(versions));
  const newest = `${values.base}/${versions[0]}/`;
  await writeFile(
    join(out, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>rtc-service</title><meta http-equiv="refresh" content="0; url=${newest}"><a href="${newest}">rtc-service</a></html>\n`,
  );
}

import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// The service reads its pages at /docs from what is built.
import { ROOT } from '../../../support/parts/built.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

/* The pages of the service as a browser receives them. test/web/reference.extended.ts tests what they do. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  service.call('GET', path, { signing: false, headers });

/** Fetches a page without decompressing its body. */
function fetchBytes(path: string, accepted: string) {
  return new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
    const sent = send(`${service.url}${path}`, { headers: { 'accept-encoding': accepted } }, (response) => {
      const encoding = response.headers['content-encoding'];
      buffer(response).then((bytes) => resolve({ encoding, bytes }), reject);
    });
    sent.once('error', reject).end();
  });
}

function unescapeHtml(text: string): string {
  const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return text.replaceAll(/&(\w+);/g, (entity, name: string) => characters[name] ?? entity);
}

/** Returns the paths and anchors of the links in a page that lead to pages at /docs. */
function listLinks(html: string): readonly (readonly [string, string | undefined])[] {
  return [...html.matchAll(/<a [^>]*href="(\/docs[^"#]*|)(?:#([^"]+))?"/g)].map(([, path = '', anchor]) => [
    path,
    anchor,
  ]);
}

const FILES = [
  '/openapi.json',
  '/docs',
  '/docs/guide',
  '/docs/guide/webhooks',
  '/docs/api/createRoom',
  '/docs/try/createRoom',
  '/docs/try/createRoom/document.json',
  '/docs/search.json',
  '/docs/scalar.js',
  '/llms.txt',
];

describe('the pages of the reference', () => {
  it.each(FILES)('send %s compressed to clients that accept it, and plain to others', async (path) => {
    const plain = await fetchBytes(path, 'br;q=0, identity');
    const brotli = await fetchBytes(path, 'gzip, deflate, br');
    const gzipped = await fetchBytes(path, 'gzip');
    expect([plain.encoding, brotli.encoding, gzipped.encoding]).toEqual([undefined, 'br', 'gzip']);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
    expect(brotli.bytes.length * 2).toBeLessThan(plain.bytes.length * 1.3);
  });

  it.each(FILES)('respond with 304 for %s to clients that have it', async (path) => {
    const { etag, vary } = (await get(path)).headers;
    expect(vary).toBe('accept-encoding');
    const again = await get(path, { 'If-None-Match': String(etag) });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await get(path, { 'If-None-Match': '"another"' })).status).toBe(200);
  });

  it('let pages of any origin read the document', async () => {
    expect((await get('/openapi.json')).headers['access-control-allow-origin']).toBe('*');
    expect((await get('/docs')).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('serve /docs/ as /docs', async () => {
    expect((await get('/docs/')).text).toBe((await get('/docs')).text);
  });

  it('say what this is, and have a first call that opens a room', async () => {
    const { text } = await get('/docs');
    expect(text).toContain('<h1>rtc-service</h1>');
    const [, code = ''] = /Your first call.*?<pre tabindex="0"><code>(.*?)<\/code>/s.exec(text) ?? [];
    const script = unescapeHtml(code);
    const { apiKey, apiSecret, url } = service;
    const env = { PATH: process.env.PATH, RTC_URL: url, API_KEY: apiKey, API_SECRET: apiSecret };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
    // Without a media server the room cannot be opened, but the service has accepted the signature and the body.
    expect(JSON.parse(stdout)).toMatchObject({ status: 503, type: expect.stringContaining('media-server') });
  });

  it('need no script, except for the page on which a request is tried out', async () => {
    const readPolicy = async (path: string) => String((await get(path)).headers['content-security-policy']);
    for (const path of ['/docs', '/docs/guide', '/docs/guide/roles', '/docs/api/createRoom']) {
      expect(await readPolicy(path)).toContain("default-src 'none'");
      expect((await get(path)).text.match(/<script[^>]*>/g)).toEqual(['<script src="/docs/site.js">']);
    }
    expect(await readPolicy('/docs/try/createRoom')).toContain("script-src 'self'");
    expect(await readPolicy('/docs/try/createRoom')).not.toMatch(/unsafe-eval|https?:/);
    expect((await get('/docs/try/createRoom')).text).toContain('/docs/scalar.js');
  });

  it('have every page of docs, under the heads of its index', async () => {
    const { text } = await get('/docs/guide');
    const listed = [...text.matchAll(/<li><a href="\/docs\/guide\/([\w-]+)"/g)].map(([, name]) => name);
    const pages = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
    expect(listed.toSorted()).toEqual(
      pages.map((name) => name.replace(/^README\.md$/, 'clients').replace('.md', '')).toSorted(),
    );
    expect(text.indexOf('>Guide</a></h2>')).toBeLessThan(text.indexOf('>API</a></h2>'));
    expect(text).not.toContain('reviewed only');
  });

  it('have links that work, with headings where they lead to', async () => {
    const { text: home } = await get('/docs');
    const paths = new Set(['/docs', ...listLinks(home).map(([path]) => path)].filter((path) => path !== ''));
    const pages = new Map<string, string>();
    for (const path of paths) {
      const { status, text } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      pages.set(path, text);
      for (const [linked] of listLinks(text)) if (linked !== '') paths.add(linked);
    }
    expect(pages.size).toBeGreaterThan(100);
    const missing = [...pages].flatMap(([path, text]) =>
      listLinks(text)
        .filter(([linked, anchor]) => !pages.get(linked || path)?.includes(` id="${anchor}"`))
        .filter(([, anchor]) => anchor !== undefined)
        .map((link) => [path, ...link]),
    );
    expect(missing).toEqual([]);
  });

  it('have a page for each operation, with its parameters, responses, errors and samples', async () => {
    const { text } = await get('/docs/api/listRooms');
    expect(text).toContain('<b class="method get">GET</b> <code>/v1/rooms</code>');
    for (const id of ['query', 'response-200', 'errors', 'samples-title'])
      expect(text).toContain(`id="${id}"`);
    for (const label of ['curl', 'rtc', 'TypeScript', 'Python', 'Go', 'PHP', 'Java', 'C#'])
      expect(text).toContain(`<summary>${label}</summary>`);
    expect(text).toContain('href="/docs/try/listRooms"');
    const ids = Object.values(service.document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    for (const id of ids) expect([id, (await get(`/docs/api/${id}`)).status]).toEqual([id, 200]);
  });

  it('answer an address that leads nowhere, and prepare nothing for it', async () => {
    for (const path of ['/docs/api/nothing', '/docs/guide/..%2Fguide.json', '/docs/try/constructor'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });

  it('give the viewer one operation, without headers to fill in by hand', async () => {
    const { json } = await get('/docs/try/createRoom/document.json');
    const document: { paths: object; components: object } = json;
    expect(document.paths).toEqual({ '/v1/rooms': { post: expect.anything() } });
    expect(document.components).not.toHaveProperty('securitySchemes');
  });

  it('describe every operation for language models', async () => {
    const { text, headers } = await get('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text.startsWith('# rtc-service\n\n> ')).toBe(true);
    const operations = Object.entries(service.document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `\`${method.toUpperCase()} ${path}\`: `),
    );
    expect(operations.filter((operation) => !text.includes(operation))).toEqual([]);
  });
});

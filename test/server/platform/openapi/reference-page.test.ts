import { request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../../support/service.ts';
// The service reads its pages at /docs from what is built.
import '../../../support/parts/built.ts';

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

const FILES = [
  '/openapi.json',
  '/docs',
  '/docs/guide',
  '/docs/scalar.js',
  '/docs/document.json',
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

  it('have a heading before any script runs, and a link for readers without scripts', async () => {
    const { text } = await get('/docs');
    expect(text).toContain('<h1>rtc-service</h1>');
    expect(text).toContain('<h2 id="sign-requests">');
    expect(text).toContain('<a href="#tag/fiscal-codes">Fiscal codes</a>');
    expect(/<noscript>.*\/docs\/guide.*<\/noscript>/s.test(text)).toBe(true);
  });

  it('allow no script but their own, and none at all in the guide', async () => {
    const readPolicy = async (path: string) => String((await get(path)).headers['content-security-policy']);
    expect(await readPolicy('/docs')).toContain("script-src 'self'");
    expect(await readPolicy('/docs')).not.toMatch(/unsafe-eval|https?:/);
    expect(await readPolicy('/docs/guide')).toContain("default-src 'none'");
  });

  it('have every guide, with links between them that work', async () => {
    const { text } = await get('/docs/guide');
    const headings = [...text.matchAll(/<h2 id="([^"]+)">/g)].map(([, id]) => id);
    expect(headings).toEqual([
      ...['sign-requests', 'roles', 'conventions', 'webhooks', 'recordings', 'transcription'],
    ]);
    const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(anchors.filter((id) => !text.includes(`id="${id}"`))).toEqual([]);
    expect(text).not.toContain('.md"');
  });

  it('have the guides in the reference too, and no headers to fill in by hand', async () => {
    const { json } = await get('/docs/document.json');
    const document: { info: { description: string }; components: object } = json;
    expect(document.info.description).toContain('## Sign requests');
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

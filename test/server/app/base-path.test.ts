import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RtcClient } from '../../../src/client/client.ts';
import { parseBasePath } from '../../../src/server/app/config/settings.ts';
import '../../support/parts/built.ts';
import { type PathProxy, startPathProxy } from '../../support/parts/haproxy.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signatureHeaders } from '../../support/sign.ts';

/* The service under a path of another site, behind a proxy that strips the path from requests, and behind one that does not. */

const run = promisify(execFile);

let service: TestService;
let proxy: PathProxy;
beforeAll(async () => {
  service = await startTestService({ environment: { BASE_PATH: '/apps/rtc' } });
  proxy = await startPathProxy(new URL(service.url).host, '/apps/rtc');
});
afterAll(async () => {
  await proxy?.close();
  await service?.close();
});

const credentials = () => ({ apiKey: service.apiKey, apiSecret: service.apiSecret });

const sign = (path: string) =>
  signatureHeaders({ method: 'GET', path }, { ...credentials(), timestamp: Math.floor(Date.now() / 1000) });

type Sample = { readonly label: string; readonly source: string };

type Document = {
  readonly servers: unknown;
  readonly paths: Readonly<Record<string, { readonly get: { readonly 'x-codeSamples': readonly Sample[] } }>>;
};

const WAYS = [
  ['strips the path', () => proxy.strippingUrl],
  ['passes the path on', () => proxy.passingUrl],
  ['is absent', () => service.url],
] as const;

describe.each(WAYS)('with BASE_PATH, when the proxy %s', (_, readUrl) => {
  it('accepts what the client signs for the address with the path', async () => {
    const client = new RtcClient({ url: readUrl(), ...credentials() });
    const webhook = await client.webhooks.create({
      url: 'https://example.org/hook',
      events: ['room_created'],
    });
    expect((await client.webhooks.list({ limit: 5 })).webhooks.map(({ id }) => id)).toContain(webhook.id);
    await client.webhooks.delete(webhook.id);
    await client.close();
  });

  it('refuses what is signed without the path, and says so', async () => {
    const response = await fetch(`${readUrl()}/v1/webhooks`, { headers: sign('/v1/webhooks') });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      type: 'urn:problem-type:rtc:invalid-signature',
      detail: expect.stringContaining('without /apps/rtc, the BASE_PATH of this service'),
      hint: { text: expect.stringContaining('/apps/rtc') },
    });
  });

  it('answers a wrong signature as ever', async () => {
    const response = await fetch(`${readUrl()}/v1/webhooks`, { headers: sign('/v1/rooms') });
    expect([response.status, await response.text()]).toEqual([403, expect.not.stringContaining('BASE_PATH')]);
    expect((await fetch(`${readUrl()}/v1/nothing`)).status).toBe(401);
  });

  it('leads from the path to the reference, all of whose links work', async () => {
    const home = await fetch(`${readUrl()}/`, { redirect: 'manual' });
    expect(home.headers.get('location')).toBe('/apps/rtc/docs');
    const page = await (await fetch(`${readUrl()}/docs`)).text();
    const guide = await (await fetch(`${readUrl()}/docs/guide`)).text();
    const links = [...`${page}${guide}`.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = '']) => link);
    expect(new Set(links).size).toBeGreaterThan(6);
    for (const link of new Set(links)) {
      expect([link, (await fetch(new URL(link, readUrl()))).status]).toEqual([link, 200]);
    }
    expect(await (await fetch(`${readUrl()}/llms.txt`)).text()).toContain('(/apps/rtc/openapi.json)');
  });

  it('links to the next page with the path', async () => {
    const first = await fetch(`${readUrl()}/it/cities/MI?limit=2`);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    expect(next).toMatch(/^\/apps\/rtc\/it\/cities\/MI\?/);
    const second = await fetch(new URL(next, readUrl()));
    expect(second.status).toBe(200);
    expect(await second.text()).not.toBe(await first.text());
  });

  it('has an OpenAPI document whose server is the path, and whose samples run', async () => {
    const document = (await (await fetch(`${readUrl()}/openapi.json`)).json()) as Document;
    expect(document.servers).toEqual([{ url: '/apps/rtc', description: 'This service' }]);
    const shown = (await (
      await fetch(`${readUrl()}/docs/try/listWebhooks/document.json`)
    ).json()) as Document;
    const samples = shown.paths['/v1/webhooks']?.get['x-codeSamples'] ?? [];
    const env = {
      PATH: process.env.PATH,
      RTC_URL: readUrl(),
      API_KEY: service.apiKey,
      API_SECRET: service.apiSecret,
    };
    const find = (label: string): string => samples.find((sample) => sample.label === label)?.source ?? '';
    expect((await run('bash', ['-c', find('curl')], { env })).stdout).toMatch(/^\{"webhooks":/);
    expect((await run('python3', ['-c', find('Python')], { env })).stdout).toMatch(/^200 /);
    for (const label of ['Go', 'PHP', 'Java', 'C#']) expect(find(label)).toContain('/apps/rtc');
  });
});

describe('a service with BASE_PATH', () => {
  it('is at that path for the media server and for links', () => {
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/apps\/rtc$/);
  });

  it('takes no other path for it', async () => {
    const { origin } = new URL(service.url);
    const readStatus = async (path: string) => (await fetch(origin + path)).status;
    expect(await readStatus('/v1/health')).toBe(200);
    expect(await readStatus('/apps/rtc/v1/health')).toBe(200);
    expect(await readStatus('/apps/rtc')).toBe(200);
    expect(await readStatus('/apps/rtc?x=1')).toBe(400);
    for (const path of [
      '/apps/rtcv1/health',
      '/apps/rtc/apps/rtc/v1/health',
      '/apps/%72tc/v1/health',
      '/apps',
    ]) {
      expect([path, await readStatus(path)]).toEqual([path, 404]);
    }
    expect(await readStatus('/apps/rtc/v1/rooms')).toBe(401);
    expect(await readStatus('/apps/rtc/%76%31/rooms')).toBe(401);
  });
});

describe('BASE_PATH', () => {
  it('does not begin like a path of the service', () => {
    const paths = Object.keys(service.document.paths ?? {});
    expect(paths.length).toBeGreaterThan(30);
    for (const path of [...paths, '/livekit/webhook']) {
      const [, first = ''] = path.split('/');
      expect([path, parseBasePath(`/${first}`)]).toEqual([path, first === '' ? '' : undefined]);
    }
  });
});

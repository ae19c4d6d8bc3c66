import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleInfo } from '../../../src/cli/commands/console/console-calls.ts';
import { ConsoleSession, startConsoleServer } from '../../../src/cli/commands/console/serve-console.ts';
import type { LoopbackServer } from '../../../src/cli/pages/loopback-server.ts';
import { RtcClient } from '../../../src/client/client.ts';
import { listOtherHosts, readAnswer, readStatus } from '../support/other-hosts.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const FILES = new Map([
  ['/', { body: Buffer.from('<!doctype html>'), contentType: 'text/html', cacheControl: 'no-store' }],
]);

describe('the server of the console', () => {
  let stack: Stack;
  let client: RtcClient;
  const servers: LoopbackServer[] = [];

  beforeAll(async () => {
    stack = await startStack();
    client = new RtcClient(stack.service);
    await client.rooms.create({ name: 'demo' });
  });

  afterAll(async () => {
    for (const server of servers) await server.close();
    await client?.close();
    await stack?.close();
  });

  /** Opens a console by its link, and returns a function that sends requests as its page does. */
  const open = async (options: Partial<ConsoleInfo> = {}, service: RtcClient = client) => {
    const session = new ConsoleSession();
    const info: ConsoleInfo = {
      profile: 'dev',
      url: stack.service.url,
      isProtected: false,
      isReadOnly: false,
      commandOptions: '',
      version: '0.0.0',
      ...options,
    };
    const server = await startConsoleServer({
      target: {
        client: service,
        info,
        runChecks: async ({ withProbe }) => [
          { check: withProbe ? 'probe' : 'plain', status: 'ok', detail: '', next: '' },
        ],
        openRoom: async (room) => `http://127.0.0.1:1/#${room}`,
      },
      session,
      files: FILES,
      port: 0,
    });
    servers.push(server);
    const { origin } = server;
    const code = new URL(session.createLink(origin)).hash.replace('#code=', '');
    const redeem = (body: unknown, headers: Headers = {}): Promise<Response> =>
      fetch(`${origin}/console/session`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const opened = await redeem({ code });
    const { token } = (await opened.clone().json()) as { readonly token: string };
    /** Signs a path as the page does for what the browser loads without headers. */
    const sign = (path: string): string =>
      `${path}${path.includes('?') ? '&' : '?'}ticket=${createHmac('sha256', token).update(path).digest('hex')}`;
    const ask = (method: string, path: string, { headers, body }: Asked = {}): Promise<Response> =>
      fetch(origin + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'sec-fetch-site': 'same-origin',
          ...(method === 'GET' ? {} : { origin }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    return { server, origin, code, token, redeem, ask, sign, opened };
  };

  it('exchanges the code of the link for a token, and sets no cookie, which other ports would get', async () => {
    const { token, code, opened } = await open();
    expect(await opened.json(), 'the page begins without asking once more').toMatchObject({ profile: 'dev' });
    expect(opened.headers.get('set-cookie')).toBeNull();
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(token).not.toContain(code);
  });

  it.each([{}, { code: '' }, { code: 'made-up' }, { code: 7 }, []])('gives no token for %j', async (body) => {
    const { redeem } = await open();
    const response = await redeem(body);
    expect(response.status).toBe(403);
    const problem = await response.json();
    expect(problem).not.toHaveProperty('token');
    expect(problem).toMatchObject({ hint: { text: expect.stringContaining('rtc console') } });
  });

  it('gives no token to another page that knows the code', async () => {
    const { redeem, code } = await open();
    expect((await redeem({ code }, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await redeem({ code }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await redeem({ code }, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('signs the requests of the page, and passes on the responses of the service', async () => {
    const { ask } = await open();
    const listed = await ask('GET', '/api/v1/rooms?limit=5');
    expect(listed.status).toBe(200);
    expect(await listed.json()).toMatchObject({ rooms: [{ name: 'demo' }] });
    const created = await ask('POST', '/api/v1/rooms', { body: { name: 'demo' } });
    expect(created.status).toBe(201);
    expect(created.headers.get('x-room-existed')).toBe('true');
    expect(created.headers.get('cache-control')).toBe('no-store');
  });

  it('passes on the problems of the service with the hint of the command line', async () => {
    const { ask } = await open();
    const response = await ask('GET', '/api/v1/rooms/nowhere');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(await response.json()).toMatchObject({
      type: 'urn:problem-type:rtc:room-not-found',
      detail: expect.stringContaining('nowhere'),
      hint: { text: 'see which rooms are open: rtc rooms list' },
    });
  });

  it('never sends the key or the secret to the browser', async () => {
    const { ask } = await open();
    const responses = await Promise.all([
      ask('GET', '/'),
      ask('GET', '/console/info'),
      ask('GET', '/api/v1/rooms'),
      ask('GET', '/api/v1/rooms/nowhere'),
    ]);
    for (const response of responses) {
      const text = JSON.stringify([...response.headers]) + (await response.text());
      expect(text).not.toContain(stack.service.apiKey);
      expect(text).not.toContain(stack.service.apiSecret);
    }
  });

  it('refuses a request without the token, with that of another console, and with the token as a cookie', async () => {
    const one = await open();
    const other = await open();
    const paths = ['/api/v1/rooms', '/console/info'];
    for (const path of paths) {
      for (const authorization of ['', 'Bearer null', `Bearer ${other.token}`, one.token]) {
        expect((await one.ask('GET', path, { headers: { authorization } })).status).toBe(401);
      }
      const cookie = `rtc-console-${new URL(one.origin).port}=${one.token}`;
      expect((await one.ask('GET', path, { headers: { authorization: '', cookie } })).status).toBe(401);
    }
  });

  it('takes a signed path for reading that path, and for nothing else', async () => {
    const { ask, sign } = await open();
    const none = { authorization: '' };
    const path = '/api/v1/rooms?limit=5';
    expect(await (await ask('GET', sign(path), { headers: none })).json()).toMatchObject({
      rooms: [{ name: 'demo' }],
    });
    const ticket = new URLSearchParams(sign(path).split('?')[1]).get('ticket');
    for (const other of [`/api/v1/rooms?ticket=${ticket}`, `/api/v1/rooms?limit=50&ticket=${ticket}`]) {
      expect((await ask('GET', other, { headers: none })).status).toBe(401);
    }
    const room = '/api/v1/rooms/demo';
    expect((await ask('DELETE', sign(room), { headers: none })).status).toBe(401);
    expect((await ask('GET', `${sign(room)}&more=1`, { headers: none })).status).toBe(401);
    expect((await ask('GET', sign(room), { headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403);
    expect((await client.rooms.list()).rooms.map(({ name }) => name)).toEqual(['demo']);
  });

  it.each(['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://127.0.0.1'])(
    'refuses a request of the origin %s, also with the token',
    async (origin) => {
      const { ask } = await open();
      for (const [method, path] of [
        ['GET', '/api/v1/rooms'],
        ['DELETE', '/api/v1/rooms/demo'],
        ['POST', '/console/checks'],
      ] as const) {
        expect((await ask(method, path, { headers: { origin } })).status).toBe(403);
      }
    },
  );

  it.each(['same-site', 'cross-site'])(
    'refuses a request that the browser calls %s, such as an image of another page',
    async (site) => {
      const { ask } = await open();
      expect((await ask('GET', '/api/v1/rooms', { headers: { 'sec-fetch-site': site } })).status).toBe(403);
    },
  );

  it('refuses a change without an origin, and one in a form', async () => {
    const { ask, origin } = await open();
    expect((await ask('DELETE', '/api/v1/rooms/demo', { headers: { origin: '' } })).status).toBe(403);
    const form = { origin, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('POST', '/api/v1/rooms', { headers: form })).status).toBe(415);
    expect((await client.rooms.list()).rooms.map(({ name }) => name)).toEqual(['demo']);
  });

  it('rejects every other host name, so that no name can be bound to it', async () => {
    const { origin } = await open();
    for (const host of listOtherHosts(origin)) {
      for (const path of ['/', '/api/v1/rooms', '/console/info', '/assets/x.js']) {
        expect([host, path, await readStatus(origin + path, host)]).toEqual([host, path, 421]);
      }
    }
    expect(await readStatus(origin, new URL(origin).host)).toBe(200);
  });

  it('leads from localhost, which may be another program at ::1, to its own origin', async () => {
    const { origin } = await open();
    const { port } = new URL(origin);
    const host = `localhost:${port}`;
    expect(await readAnswer(`${origin}/rooms?q=1`, host)).toEqual([307, `${origin}/rooms?q=1`]);
    expect(await readAnswer(`${origin}//evil.example`, host)).toEqual([307, `${origin}//evil.example`]);
    expect(await readStatus(`${origin}/api/v1/rooms`, host)).toBe(421);
  });

  it('with --read-only refuses every change, and reads', async () => {
    const { ask } = await open({ isReadOnly: true });
    for (const [method, path] of [
      ['POST', '/api/v1/rooms'],
      ['PUT', '/api/v1/webhooks/wh_1'],
      ['PATCH', '/api/v1/webhooks/wh_1'],
      ['DELETE', '/api/v1/rooms/demo'],
      ['POST', '/console/probe'],
      ['POST', '/console/rooms/open'],
    ] as const) {
      const response = await ask(method, path, { body: { name: 'made', room: 'made' } });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining('--read-only') });
    }
    expect((await client.rooms.list()).rooms.map(({ name }) => name)).toEqual(['demo']);
    expect((await ask('GET', '/api/v1/rooms')).status).toBe(200);
    expect((await ask('POST', '/console/checks')).status).toBe(200);
  });

  it.each([
    ['GET', '/api/metrics', 404],
    ['GET', '/api/ready', 404],
    ['GET', '/console/nothing', 404],
    ['POST', '/', 405],
    ['GET', '/assets/..%2f..%2fpackage.json', 404],
  ])('responds to %s %s with %d', async (method, path, status) => {
    const { ask } = await open();
    expect((await ask(method, path)).status).toBe(status);
  });

  it('runs only its own code, connects only to itself, and is in no frame', async () => {
    const { origin } = await open();
    const response = await fetch(`${origin}/webhooks/wh_1`);
    expect(await response.text()).toBe('<!doctype html>');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('runs the checks of rtc doctor, with rooms of its own only when asked', async () => {
    const { ask } = await open();
    expect(await (await ask('POST', '/console/checks')).json()).toMatchObject({
      checks: [{ check: 'plain' }],
    });
    expect(await (await ask('POST', '/console/probe')).json()).toMatchObject({
      checks: [{ check: 'probe' }],
    });
  });

  it('says whether the service and what it needs respond, without a check in the audit log', async () => {
    const { ask } = await open({ isReadOnly: true });
    expect(await (await ask('GET', '/console/ready')).json()).toEqual({ isReady: true });
    const nobody = new RtcClient({ ...stack.service, url: 'http://127.0.0.1:1' });
    const { ask: askNobody } = await open({}, nobody);
    expect(await (await askNobody('GET', '/console/ready')).json()).toEqual({ isReady: false });
    await nobody.close();
    expect((await client.audit.list({ limit: 100 })).entries.map(({ path }) => path)).not.toContain(
      '/v1/self-check',
    );
  });

  it('saves sessions and their participants as the files that rtc writes', async () => {
    const name = 'saved';
    await client.rooms.create({ name });
    await stack.media.control.join(name, { identity: '=cmd()', name: 'Ada' });
    await expect.poll(async () => (await client.sessions.list({ roomId: name })).sessions).toHaveLength(1);
    const { ask } = await open({ isReadOnly: true });
    const saved = await ask('GET', `/console/sessions.csv?roomId=${name}&status=open`);
    expect(saved.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(saved.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''sessions.csv");
    const [head, row] = (await saved.text()).split('\n');
    expect(head).toMatch(/^session_id,room,status,opened/);
    const id = row?.split(',')[0] ?? '';
    expect(row).toContain(`${id},${name},open,`);
    const people = await ask('GET', `/console/sessions/${id}/participants.csv`);
    expect((await people.text()).split('\n')[1]).toContain(`${id},${name},'=cmd(),Ada,`);
    expect(await (await ask('GET', '/console/sessions.csv?status=ended&roomId=saved')).text()).toBe(
      `${head}\n`,
    );
  });

  it('responds with the service’s problem when a session to save does not exist', async () => {
    const { ask } = await open();
    expect((await ask('GET', '/console/sessions/RM_none/participants.csv')).status).toBe(404);
    expect((await ask('GET', '/console/sessions.csv?since=never')).status).toBe(400);
  });

  it('reports an unavailable service as a temporary problem', async () => {
    const away = new RtcClient({ ...stack.service, url: 'http://127.0.0.1:9' });
    const { ask } = await open({}, away);
    const response = await ask('GET', '/api/v1/rooms');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      type: 'urn:problem-type:rtc:unreachable',
      detail: expect.stringContaining('cannot be reached'),
      hint: { text: expect.stringContaining('is the service running') },
    });
    await away.close();
  });

  it('ends with the command', async () => {
    const { server, ask } = await open();
    await server.close();
    await expect(ask('GET', '/api/v1/rooms')).rejects.toThrow('fetch failed');
  });

  it('reports that the page is not built', async () => {
    const ended = await run(['console', '--print'], { env: stack.environment });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('/somewhere/bin/rtc.js');
  });
});

type Headers = Readonly<Record<string, string>>;
type Asked = { readonly headers?: Headers; readonly body?: unknown };

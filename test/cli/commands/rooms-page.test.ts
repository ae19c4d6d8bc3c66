import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageServer, startPageServer } from '../../../src/cli/commands/rooms/page/page-server.ts';
import { type Invitation, type Person, Seats } from '../../../src/cli/commands/rooms/page/seats.ts';
import { RtcClient } from '../../../src/client/client.ts';
import { listOtherHosts, readStatus } from '../support/other-hosts.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const PAGE = { body: Buffer.from('<!doctype html>'), contentType: 'text/html', cacheControl: 'no-store' };
const ADA: Person = { identity: 'ada', name: 'Ada', role: 'host' };

describe('the page of a room', () => {
  let stack: Stack;
  let client: RtcClient;
  let now = Date.now();
  let wallMs = now;
  const open: PageServer[] = [];

  beforeAll(async () => {
    stack = await startStack();
    const { url, apiKey, apiSecret } = stack.service;
    client = new RtcClient({ url, apiKey, apiSecret });
    await client.rooms.create({ name: 'demo', maxParticipants: 50 });
  });

  afterAll(async () => {
    for (const server of open) await server.close();
    await client?.close();
    await stack?.close();
  });

  const serve = async ({ person = ADA, publicUrl }: { person?: Person; publicUrl?: URL } = {}) => {
    const seats = new Seats({ client, room: 'demo', person, monotonic: () => now });
    const server = await startPageServer({
      client,
      seats,
      room: 'demo',
      clock: () => wallMs,
      files: new Map([['/', PAGE]]),
      mediaUrl: 'ws://127.0.0.1:7880',
      port: 0,
      publicUrl,
    });
    open.push(server);
    const post = (action: string, { token, headers, body = {} }: Post = {}): Promise<Response> =>
      fetch(`${server.origin}/api/${action}`, {
        method: 'POST',
        headers: {
          origin: server.origin,
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: JSON.stringify(body),
      });
    const join = async (code: string): Promise<Invitation> => {
      const response = await post('join', { body: { code } });
      expect(response.status).toBe(200);
      const invitation: Invitation = JSON.parse(await response.text());
      return invitation;
    };
    return { server, seats, post, join };
  };

  const readJson = async (response: Response): Promise<Readonly<Record<string, string>>> =>
    JSON.parse(await response.text());

  it('exchanges a local code for a seat, and further ones for further tabs', async () => {
    const { seats, join } = await serve();
    const code = seats.createCode('local');
    const first = await join(code);
    const second = await join(code);
    expect([first.identity, second.identity]).toEqual(['ada', 'ada-2']);
    expect(first).toMatchObject({ room: 'demo', role: 'host', url: expect.stringMatching(/^ws:/) });
  });

  it('accepts a public code once, and not after ten minutes', async () => {
    const { seats, post } = await serve();
    const code = seats.createCode('public');
    const redeem = async (text: string) => (await post('join', { body: { code: text } })).status;
    for (const near of [
      '',
      '0',
      code.slice(0, -1),
      `${code}=`,
      `${code} `,
      code.toUpperCase(),
      code + code,
    ]) {
      expect([near, await redeem(near)]).toEqual([near, 403]);
    }
    const raced = await Promise.all(Array.from({ length: 20 }, () => redeem(code)));
    expect(raced.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 403)]);
    expect(await redeem(code)).toBe(403);
    const late = seats.createCode('public');
    now += 10 * 60_000 + 1;
    expect((await post('join', { body: { code: late } })).status).toBe(403);
  });

  it('issues a fresh token to a holder of an earlier one', async () => {
    const { seats, join, post } = await serve();
    const { token } = await join(seats.createCode('local'));
    const again = await post('token', { token, body: { asAnotherPerson: false } });
    expect(await again.json()).toMatchObject({ identity: 'ada' });
    const another = await post('token', { token, body: { asAnotherPerson: true } });
    expect(await another.json()).toMatchObject({ identity: 'ada-2' });
  });

  it('gives the holder of a public link one identity, and no further ones', async () => {
    const { seats, join, post } = await serve();
    const { token, identity } = await join(seats.createCode('public'));
    const another = await post('token', { token, body: { asAnotherPerson: true } });
    expect(another.status).toBe(403);
    const again = await post('token', { token });
    expect(await again.json()).toMatchObject({ identity });
  });

  it.each(['local', 'public'] as const)(
    'drops a seat whose person was blocked, so that nothing works with it any more: %s',
    async (link) => {
      const eve: Person = { identity: `eve-${link}`, name: 'Eve', role: 'host' };
      await stack.media.control.join('demo', { identity: eve.identity });
      const { seats, join, post } = await serve({ person: eve });
      const { token } = await join(seats.createCode(link));
      await client.participants.remove('demo', eve.identity, { block: 'forever' });
      const refused = await post('token', { token });
      expect(await refused.json()).toMatchObject({ status: 403, code: 'participant-blocked', until: null });
      for (const body of [{}, { asAnotherPerson: true }]) {
        expect((await post('token', { token, body })).status).toBe(401);
      }
      expect((await post('mute', { token, body: { identity: 'bob', trackSid: 'TR_x' } })).status).toBe(401);
    },
  );

  it('lets a blocked holder of a public link remove nobody', async () => {
    await stack.media.control.join('demo', { identity: 'bob' });
    const mal: Person = { identity: 'mal', name: 'Mal', role: 'host' };
    await stack.media.control.join('demo', { identity: 'mal' });
    const { seats, join, post } = await serve({ person: mal });
    const { token } = await join(seats.createCode('public'));
    await client.participants.remove('demo', 'mal', { block: 'forever' });
    expect((await post('remove', { token, body: { identity: 'bob' } })).status).toBe(403);
    expect((await post('remove', { token, body: { identity: 'bob' } })).status).toBe(401);
  });

  it.each([undefined, 'made-up', 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln'])(
    'refuses the token %s, which it did not issue',
    async (token) => {
      const { post } = await serve();
      for (const action of ['token', 'mute', 'remove']) {
        expect((await post(action, token === undefined ? {} : { token })).status).toBe(401);
      }
    },
  );

  it('refuses a token of another run', async () => {
    const one = await serve();
    const other = await serve();
    const { token } = await one.join(one.seats.createCode('local'));
    expect((await other.post('token', { token })).status).toBe(401);
  });

  it('lets a host mute and remove through the service', async () => {
    await stack.media.control.join('demo', { identity: 'bob' });
    const { seats, join, post } = await serve();
    const { token } = await join(seats.createCode('local'));
    expect((await post('remove', { token, body: { identity: 'bob' } })).status).toBe(204);
    expect((await client.participants.list('demo')).participants).toEqual([]);
    const gone = await post('remove', { token, body: { identity: 'bob' } });
    expect(gone.status).toBe(404);
    expect(await gone.json()).toMatchObject({ detail: expect.stringContaining('bob') });
    const unknown = await post('mute', { token, body: { identity: 'bob', trackSid: 'TR_x' } });
    expect(unknown.status).toBe(404);
  });

  it('tells a host which captions are missing, and that there are none', async () => {
    const { seats, join, post } = await serve();
    const { token } = await join(seats.createCode('local'));
    const start = await post('captions', { token, body: { isOn: true } });
    expect(start.status).toBe(503);
    expect(await start.json()).toMatchObject({ detail: expect.stringContaining('stt-live') });
    for (const isOn of [undefined, false]) {
      const response = await post('captions', { token, body: { isOn } });
      expect({ status: response.status, body: await response.json() }).toEqual({
        status: 200,
        body: { isOn: false },
      });
    }
  });

  it.each(['moderator', 'participant', 'viewer'] as const)(
    'does not let a %s start captions',
    async (role) => {
      const { seats, join, post } = await serve({ person: { ...ADA, role } });
      const { token } = await join(seats.createCode('local'));
      expect((await post('captions', { token, body: { isOn: true } })).status).toBe(403);
    },
  );

  it.each(['participant', 'viewer'] as const)('lets a %s neither mute nor remove', async (role) => {
    const { seats, join, post } = await serve({ person: { ...ADA, role } });
    const { token } = await join(seats.createCode('local'));
    for (const action of ['mute', 'remove']) {
      const response = await post(action, { token, body: { identity: 'bob', trackSid: 'TR_x' } });
      expect(response.status).toBe(403);
    }
  });

  it('lets a moderator mute but not remove', async () => {
    const { seats, join, post } = await serve({ person: { ...ADA, role: 'moderator' } });
    const { token } = await join(seats.createCode('local'));
    expect((await post('remove', { token, body: { identity: 'bob' } })).status).toBe(403);
    expect((await post('mute', { token, body: { identity: 'bob', trackSid: 'TR_x' } })).status).toBe(404);
  });

  it('lets a host and a moderator decide who comes in, and takes the seat of who was denied', async () => {
    await client.rooms.create({ name: 'demo', lobby: true });
    const bob: Person = { identity: 'bob', name: 'Bob', role: 'participant' };
    const { seats, join, post } = await serve({ person: bob });
    const waiting = await join(seats.createCode('local'));
    expect(waiting.waiting).toBe(true);
    const wait = () =>
      fetch(`${stack.media.url}/embedded/join`, {
        method: 'POST',
        headers: { authorization: `Bearer ${waiting.token}` },
      });
    expect((await wait()).status).toBe(200);
    for (const action of ['waiting', 'admit', 'admit-all', 'deny'])
      expect([action, (await post(action, { token: waiting.token })).status]).toEqual([action, 403]);
    const { token } = await join(seats.createCode('local', 'moderator'));
    const list = async () => (await readJson(await post('waiting', { token }))).waiting;
    expect(await list()).toMatchObject([{ identity: 'bob', name: 'Bob', role: 'participant' }]);
    const { cursor } = await readJson(await post('waiting', { token }));
    const next = post('waiting', { token, body: { cursor } });
    expect((await post('admit', { token })).status).toBe(400);
    expect((await post('deny', { token, body: { identity: 'bob' } })).status).toBe(204);
    expect((await readJson(await next)).waiting).toEqual([]);
    expect(await list()).toEqual([]);
    expect((await post('token', { token: waiting.token })).status).toBe(401);
    expect((await post('admit', { token, body: { identity: 'bob' } })).status).toBe(404);
    expect((await post('admit-all', { token })).status).toBe(204);
    await client.rooms.create({ name: 'demo', lobby: false });
  });

  it('counts the people of the room for whoever has a seat', async () => {
    await stack.media.control.join('demo', { identity: 'carol' });
    const { seats, join, post } = await serve({ person: { ...ADA, role: 'viewer' } });
    const { token } = await join(seats.createCode('local'));
    const counted = await (await post('room', { token })).json();
    expect(counted).toEqual({
      people: (await client.participants.list('demo')).participants.length,
      maxParticipants: 50,
    });
    expect((await post('room')).status).toBe(401);
  });

  it('tells whoever joins after a warning how long the room stays open', async () => {
    const { seats, join, post } = await serve({ person: { ...ADA, role: 'viewer' } });
    const { token } = await join(seats.createCode('local'));
    const ask = async () => (await readJson(await post('closing', { token }))).secondsLeft;
    expect(await ask(), 'before a warning').toBe(null);
    await stack.media.control.join('demo', { identity: 'dora' });
    const closesAt = Date.now() + 200_000;
    wallMs = closesAt - 120_000;
    await client.plans.put('demo', {
      room: 'demo',
      closesAt: new Date(closesAt).toISOString(),
      closingWarnings: [200],
    });
    await expect.poll(ask).toBe(120);
    wallMs = closesAt;
    expect(await ask(), 'at the end').toBe(null);
    await client.plans.delete('demo');
  });

  it('lets the holder of a seat choose a name, which is in the next token', async () => {
    const { seats, join, post } = await serve();
    const { token } = await join(seats.createCode('public'));
    const renamed = await readJson(await post('token', { token, body: { name: ' Ada King ' } }));
    expect(renamed).toMatchObject({ identity: 'ada', name: 'Ada King' });
    expect(await (await post('token', { token: renamed.token ?? '' })).json()).toMatchObject({
      name: 'Ada King',
    });
    expect(await (await post('token', { token, body: { name: '  ' } })).json()).toMatchObject({
      name: 'Ada',
    });
    expect((await post('token', { token, body: { name: 'x'.repeat(10_000) } })).status).toBe(400);
  });

  it.each([
    ['host', ['host', 'moderator', 'participant', 'viewer']],
    ['moderator', ['participant', 'viewer']],
    ['participant', []],
    ['viewer', []],
  ] as const)('lets a %s invite as %j', async (role, allowed) => {
    const { server, seats, join, post } = await serve({ person: { ...ADA, role } });
    const { token } = await join(seats.createCode('local'));
    for (const wanted of ['host', 'moderator', 'participant', 'viewer', 'root', 7]) {
      const response = await post('invite', { token, body: { role: wanted } });
      if (!allowed.some((each) => each === wanted)) {
        expect(response.status, String(wanted)).toBe(403);
        continue;
      }
      const { link = '', isPublic } = await readJson(response);
      expect([isPublic, new URL(link).origin]).toEqual([false, server.origin]);
      const guest = await join(new URL(link).hash.slice('#code='.length));
      expect(guest).toMatchObject({ role: wanted, name: expect.stringMatching(/^Guest \d+$/) });
      const second = await (
        await post('token', { token: guest.token, body: { asAnotherPerson: true } })
      ).json();
      expect(second, 'another tab of the guest').toMatchObject({ role: wanted });
    }
  });

  it('invites with a link that works once, when the page leaves this machine', async () => {
    const { seats, join, post } = await serve({ publicUrl: new URL('https://call.example.org') });
    const { token } = await join(seats.createCode('public'));
    const { link = '', isPublic } = await readJson(await post('invite', { token, body: { role: 'viewer' } }));
    expect([isPublic, new URL(link).origin]).toEqual([true, 'https://call.example.org']);
    const code = new URL(link).hash.slice('#code='.length);
    await join(code);
    const again = await post('join', { body: { code } });
    expect(await again.json()).toMatchObject({ status: 403, code: 'link-used' });
  });

  it('raises the hand of the person of the seat, and of nobody else', async () => {
    await stack.media.control.join('demo', { identity: 'dora' });
    const dora: Person = { identity: 'dora', name: 'Dora', role: 'participant' };
    const { seats, join, post } = await serve({ person: dora });
    const { token } = await join(seats.createCode('local'));
    const readAttributes = async () => {
      const { participants } = await client.participants.list('demo');
      return participants.find(({ identity }) => identity === 'dora')?.attributes;
    };
    expect((await post('hand', { token, body: { isRaised: true, identity: 'carol' } })).status).toBe(204);
    expect(await readAttributes()).toMatchObject({ hand: 'raised' });
    expect((await post('hand', { token, body: { isRaised: false } })).status).toBe(204);
    expect(await readAttributes()).not.toHaveProperty('hand');
    const viewer = await serve({ person: { ...dora, role: 'viewer' } });
    const seat = await viewer.join(viewer.seats.createCode('local'));
    expect((await viewer.post('hand', { token: seat.token, body: { isRaised: true } })).status).toBe(403);
  });

  it('keeps an operator’s advice from guests, and says until when they are blocked', async () => {
    await stack.media.control.join('demo', { identity: 'finn' });
    const finn: Person = { identity: 'finn', name: 'Finn', role: 'host' };
    const { seats, join, post } = await serve({
      person: finn,
      publicUrl: new URL('https://call.example.org'),
    });
    const { token } = await join(seats.createCode('public'));
    const captions = await readJson(await post('captions', { token, body: { isOn: true } }));
    expect(captions.detail).not.toContain('rtc ');
    await client.participants.remove('demo', 'finn', { block: 600 });
    const refused = await (await post('token', { token })).json();
    expect(refused).toMatchObject({ code: 'participant-blocked', until: expect.stringMatching(/Z$/) });
  });

  it('refuses other pages, also with a token', async () => {
    const { seats, join, post } = await serve();
    const { token } = await join(seats.createCode('local'));
    for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1']) {
      expect((await post('token', { token, headers: { origin } })).status).toBe(403);
    }
    const asForm = await post('token', { token, headers: { 'content-type': 'text/plain' } });
    expect(asForm.status).toBe(415);
  });

  it('rejects every other host name, so that no name can be bound to it', async () => {
    const { server } = await serve({ publicUrl: new URL('https://call.example.org') });
    for (const host of listOtherHosts(server.origin)) {
      expect([host, await readStatus(server.origin, host)]).toEqual([host, 421]);
    }
    expect(await readStatus(server.origin, new URL(server.origin).host)).toBe(200);
    expect(await readStatus(server.origin, 'call.example.org')).toBe(200);
  });

  it('runs only its own code, and connects only to itself and the media server', async () => {
    const { server } = await serve();
    const response = await fetch(server.origin);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self' ws://127.0.0.1:7880 http://127.0.0.1:7880;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each([
    ['GET', '/package.json', 404],
    ['GET', '/..%2f..%2fetc/passwd', 404],
    ['PUT', '/', 405],
    ['POST', '/', 405],
  ])('responds to %s %s with %d', async (method, path, status) => {
    const { server } = await serve();
    const { origin } = server;
    expect((await fetch(`${origin}${path}`, { method, headers: { origin } })).status).toBe(status);
  });

  it('refuses a body of more than 16 KiB, and one that is not a JSON object', async () => {
    const { post } = await serve();
    expect((await post('join', { body: { code: 'x'.repeat(17_000) } })).status).toBe(400);
    expect((await post('join', { body: ['code'] })).status).toBe(400);
  });

  it('reports that nobody can join the embedded media server', async () => {
    const ended = await run(['rooms', 'open', 'demo', '--print'], { env: stack.environment });
    expect(ended.code).toBe(6);
    expect(ended.stderr).toContain('carries no sound and no pictures');
    expect(ended.stderr).toContain('rtc dev --media livekit');
    expect(ended.stdout).toBe('');
  });

  it.each(['http://call.example.org', 'https://call.example.org/path', 'call.example.org'])(
    'refuses the public address %s',
    async (url) => {
      const ended = await run(['rooms', 'open', 'demo', '--public-url', url], { env: stack.environment });
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('is not an https address without a path');
    },
  );
});

type Post = {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery, WebhookStats } from '../../../src/contract/deliveries.ts';
import { EVENT_NAMES } from '../../../src/contract/event-names.ts';
import type { Webhook } from '../../../src/contract/webhooks.ts';
import { failPending } from '../../server/webhooks/support/fail-pending.ts';
import {
  expectedSignatures,
  type Receiver,
  respondWith,
  startReceiver,
} from '../../server/webhooks/support/receiver.ts';
import { type EventStack, jsonLines, startEventStack } from '../support/event-stack.ts';
import { json, startHttpServer } from '../support/http-server.ts';
import { run } from '../support/run.ts';

let stack: EventStack;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startEventStack();
});
afterAll(() => stack.close());

let number = 0;
let room: string;
beforeEach(async () => {
  number += 1;
  room = `room-${number}`;
  receiver = await startReceiver();
});
afterEach(async () => {
  const { stdout } = await stack.rtc('webhooks list --json id');
  const ids = (JSON.parse(stdout).webhooks as { id: string }[]).map(({ id }) => id);
  if (ids.length > 0) await stack.rtc(`webhooks delete ${ids.join(' ')} --yes`);
  await receiver.close();
});

async function create(words = ''): Promise<Webhook> {
  const { code, stdout } = await stack.rtc(`webhooks create ${receiver.url}/hook${words} --json`);
  expect(code).toBe(0);
  return JSON.parse(stdout) as Webhook;
}

async function listDeliveries(id: string): Promise<readonly Delivery[]> {
  const { stdout } = await stack.rtc(`webhooks deliveries ${id} --json`);
  return (JSON.parse(stdout) as { deliveries: Delivery[] }).deliveries;
}

/** Waits until the delivery has succeeded or failed, which is shortly after the receiver's response. */
async function untilSettled(id: string): Promise<void> {
  await expect
    .poll(async () => (await listDeliveries(id)).map(({ attempts }) => attempts.length), { timeout: 60_000 })
    .not.toContain(0);
}

describe('webhooks pause and resume', () => {
  it('let events wait, say so in explain and in the list, and send them', async () => {
    const { id } = await create(' --events room_created');
    const paused = await stack.rtc(`webhooks pause ${id}`);
    expect(paused).toMatchObject({ code: 0, stderr: expect.stringContaining(`rtc webhooks resume ${id}`) });
    expect((await stack.rtc('webhooks list')).stdout).toMatch(/Z\t\d{4}-.*Z\n$/);
    await stack.rtc(`rooms create ${room}`);
    await expect
      .poll(async () => (await listDeliveries(id)).map(({ status }) => status))
      .toEqual(['pending']);
    const [delivery] = await listDeliveries(id);
    const explained = await stack.rtc(`explain ${delivery?.id}`);
    expect(explained.stdout).toContain('because its webhook has been paused since');
    expect(explained.stdout).toContain(`rtc webhooks resume ${id}`);
    const ofRoom = await stack.rtc(`explain ${room}`);
    expect(ofRoom.stdout).toMatch(/has been paused since .*: 1 delivery waits/);
    expect(receiver.received).toEqual([]);
    expect(await stack.rtc(`webhooks resume ${id}`)).toMatchObject({ code: 0 });
    await receiver.waitFor(({ body }) => body.event === 'room_created');
  });
});

describe('webhooks create and list', () => {
  it('prints the secret, which is never shown again', async () => {
    const created = await stack.rtc(`webhooks create ${receiver.url}/hook --events room_started,room_closed`);
    expect(created.code).toBe(0);
    expect(created.stdout).toMatch(
      /^ID\twh_[\w-]+\nURL\thttp:.*\/hook\nEVENTS\troom_started,room_closed\nORDER\tnone\nSECRET\twhsec_[\w+/=]{44}\nCREATED\t\d{4}-.*Z\nBY KEY\troot\nPAUSED\t\n$/,
    );
    const secret = /whsec_\S+/.exec(created.stdout)?.[0] ?? '';
    const id = /wh_\S+/.exec(created.stdout)?.[0] ?? '';
    for (const line of ['webhooks list', `webhooks get ${id}`, `webhooks get ${id} --json`]) {
      const { code, stdout, stderr } = await stack.rtc(line);
      expect(code).toBe(0);
      expect(stdout).toContain(id);
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  it('lists webhooks up to a limit, and says how to see more', async () => {
    const ids = [(await create()).id, (await create()).id, (await create()).id];
    const two = await stack.rtc('webhooks list --limit 2 --json id');
    expect(JSON.parse(two.stdout).webhooks).toEqual(ids.slice(0, 2).map((id) => ({ id })));
    expect(
      (await stack.rtc('webhooks list --limit 2', { terminals: ['stdout', 'stderr'] })).stderr,
    ).toContain('There are more: --limit 4');
    const all = await stack.rtc('webhooks list --limit 3 --json id');
    expect(JSON.parse(all.stdout).webhooks).toEqual(ids.map((id) => ({ id })));
  });

  it.each([
    // The service of these tests may deliver to loopback addresses.
    ['http://127.0.0.1:9/x', false],
    ['http://localhost:9/x', false],
    ['http://10.1.2.3/x', true],
    ['http://[fd00::1]/x', true],
    ['https://example.org/x', false],
  ])('warns of an address to which the service does not deliver: %s', async (url, isRefused) => {
    const created = await stack.rtc(`webhooks create ${url} --json`);
    const { id } = JSON.parse(created.stdout) as Webhook;
    const updated = await stack.rtc(`webhooks update ${id} ${url}`);
    expect([created.code, updated.code]).toEqual([0, 0]);
    const warning = /^\S+ is not public: .*WEBHOOK_ALLOWED_NETWORKS/;
    expect(updated.stderr).toMatch(isRefused ? /^Warning: \S+ is not public/ : /^$/);
    // With --json, each line on stderr is JSON.
    expect(
      created.stderr
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    ).toEqual(isRefused ? [{ warning: expect.stringMatching(warning) }] : []);
  });

  it('says on a terminal that the secret must be stored now', async () => {
    const { stdout, stderr } = await stack.rtc(`webhooks create ${receiver.url}/hook`, {
      terminals: ['stdout', 'stderr'],
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/^SECRET {2,}whsec_\S{44}$/m);
    expect(stderr).toContain('Keep the secret now: it is not shown again.');
    expect(stderr).toContain('rtc webhooks listen');
  });

  it('takes a secret from stdin, signs with it, and does not print it', async () => {
    const secret = 'a-secret-of-another-system';
    const { code, stdout, stderr } = await stack.rtc(`webhooks create ${receiver.url}/hook --secret-stdin`, {
      stdin: `${secret}\n`,
    });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(secret);
    await stack.join(room, 'ada');
    const [delivery] = await receiver.waitFor(({ body }) => body.event === 'participant_joined');
    if (delivery === undefined) throw new Error('no delivery');
    expect(delivery.headers['x-service-webhook-signature']).toBe(
      expectedSignatures(delivery, secret).specified,
    );
  });

  it.each(['', '\n'])('refuses %j as a secret', async (stdin) => {
    const { code, stderr } = await stack.rtc(`webhooks create ${receiver.url} --secret-stdin`, { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain('stdin has no signing secret');
  });

  it('names the event that was probably meant, and sends nothing', async () => {
    const { code, stderr } = await run(['webhooks', 'create', 'http://x', '--events', 'room_startd'], {});
    expect(code).toBe(2);
    expect(stderr).toContain('"room_startd" is not an event name, did you mean room_started?');
    const far = await run(['webhooks', 'create', 'http://x', '--events', 'zzz'], {});
    for (const name of EVENT_NAMES) expect(far.stderr).toContain(name);
  });

  it.each(['ftp://example.org', 'example.org', 'http://user:pass@example.org/'])(
    'refuses the URL %s',
    async (url) => {
      const { code, stderr } = await stack.rtc(`webhooks create ${url}`);
      expect(code).toBe(2);
      expect(stderr).toContain('url must ');
    },
  );
});

describe('webhooks update', () => {
  it('changes the URL and the events', async () => {
    const { id } = await create();
    const moved = await stack.rtc(`webhooks update ${id} ${receiver.url}/new --events room_closed --json`);
    expect(JSON.parse(moved.stdout)).toMatchObject({
      url: `${receiver.url}/new`,
      events: ['room_closed'],
      secret: '***',
    });
  });

  it('changes the order, which a new webhook can have at once', async () => {
    const created = await stack.rtc(`webhooks create ${receiver.url}/hook --ordered --json id,ordering`);
    const { id, ordering } = JSON.parse(created.stdout) as { id: string; ordering: string };
    expect(ordering).toBe('room');
    const orderAfter = async (option: string) =>
      (JSON.parse((await stack.rtc(`webhooks update ${id} ${option} --json`)).stdout) as { ordering: string })
        .ordering;
    expect(await orderAfter('--unordered')).toBe('none');
    expect(await orderAfter('--ordered')).toBe('room');
    expect(await orderAfter('--events *')).toBe('room');
    expect((await stack.rtc(`webhooks update ${id} --ordered --unordered`)).code).toBe(2);
  });

  it('requires something to change, and a webhook that exists', async () => {
    const { id } = await create();
    expect((await stack.rtc(`webhooks update ${id}`)).code).toBe(2);
    expect((await stack.rtc('webhooks update wh_absent --events *')).code).toBe(3);
  });
});

describe('webhooks delete', () => {
  it('deletes several one after the other, and the first failure decides the exit code', async () => {
    const [one, other] = [await create(), await create()];
    const { code, stderr } = await stack.rtc(`webhooks rm ${one.id} wh_absent ${other.id} --yes`);
    expect(code).toBe(3);
    expect(stderr).toContain(`Deleted ${one.id}, ${other.id}.`);
    expect(stderr).toContain('wh_absent: ');
    expect((await stack.rtc('webhooks list')).stderr).toContain('There is no webhook.');
  });

  it('refuses to delete without --yes when nobody can be asked', async () => {
    const { id } = await create();
    const { code, stderr } = await stack.rtc(`webhooks delete ${id}`);
    expect(code).toBe(2);
    expect(stderr).toContain('add --yes');
    expect((await stack.rtc(`webhooks get ${id}`)).code).toBe(0);
  });
});

describe('webhooks rotate', () => {
  it('prints only the new secret, and both secrets sign', async () => {
    const { id, secret: old } = await create(' --events participant_joined');
    const { code, stdout, stderr } = await stack.rtc(`webhooks rotate ${id} --yes`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^whsec_\S{44}\n$/);
    await stack.join(room, 'ada');
    const [delivery] = await receiver.waitFor(({ body }) => body.event === 'participant_joined');
    if (delivery === undefined) throw new Error('no delivery');
    const [current, former] = [stdout.trim(), old].map((secret) => expectedSignatures(delivery, secret));
    expect(delivery.headers['x-service-webhook-signature']).toBe(current?.specified);
    expect(delivery.headers['webhook-signature']).toBe(`${current?.standard} ${former?.standard}`);
  });

  it('requires --yes when nobody can be asked, and changes nothing without it', async () => {
    const { id } = await create();
    const { code, stdout, stderr } = await stack.rtc(`webhooks rotate ${id}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Next:  add --yes');
    const curl = await stack.rtc(`webhooks rotate ${id} --curl`);
    expect(curl.stdout).toMatch(/^curl .* -X PUT /);
  });

  it('generates another secret each time', async () => {
    const { id } = await create();
    const secrets = [
      await stack.rtc(`webhooks rotate ${id} --yes`),
      await stack.rtc(`webhooks rotate ${id} --yes --json secret`),
    ];
    expect(new Set(secrets.map(({ stdout }) => /whsec_[\w+/=]+/.exec(stdout)?.[0])).size).toBe(2);
    expect((await stack.rtc('webhooks rotate wh_absent --yes')).code).toBe(3);
  });

  it('prints the secret also when the response is lost, because it may have been stored', async () => {
    let taken: string | undefined;
    const broken = await startHttpServer(({ body }, response) => {
      taken = (JSON.parse(body) as { secret: string }).secret;
      response.destroy();
    });
    const { code, stdout, stderr } = await stack.rtc('webhooks rotate wh_1 --yes', {
      env: { RTC_URL: broken.url },
    });
    await broken.close();
    expect([code, stdout]).toEqual([6, `${taken}\n`]);
    expect(stderr).toContain('and may or may not have accepted it');
  });

  it('prints the secret also when it is cancelled while the service may store it', async () => {
    const stop = new AbortController();
    let taken = '';
    const slow = await startHttpServer(({ body }) => {
      taken = (JSON.parse(body) as { secret: string }).secret;
      stop.abort();
    });
    const options = { env: { RTC_URL: slow.url }, signal: stop.signal };
    const { code, stdout } = await stack.rtc('webhooks rotate wh_1 --yes', options);
    await slow.close();
    expect([code, stdout]).toEqual([130, `${taken}\n`]);
  });

  it('masks the secret in the output of --debug', async () => {
    const { id } = await create();
    const { stdout, stderr } = await stack.rtc(`webhooks rotate ${id} --yes --debug`);
    expect(stderr).toContain('> {"secret":"***"}');
    expect(stderr).not.toContain(stdout.trim());
  });

  it('prints no secret that was refused', async () => {
    const { stdout, code } = await stack.rtc('webhooks rotate wh_absent --yes');
    expect([code, stdout]).toEqual([3, '']);
  });
});

describe('webhooks test', () => {
  it('ends with 0 when delivered and with 7 when not', async () => {
    const { id } = await create();
    expect(await stack.rtc(`webhooks test ${id}`)).toEqual({
      code: 0,
      stdout: 'DELIVERED\ttrue\nSTATUS-CODE\t200\n',
      stderr: '',
    });
    receiver.behave(respondWith(503));
    const refused = await stack.rtc(`webhooks test ${id} --json`);
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([7, { delivered: false, statusCode: 503 }]);
  });

  it('says where a receiver redirects to, and what to do', async () => {
    const { id } = await create();
    const location = 'https://www.example.org/hook?token=secret';
    receiver.behave((_request, response) => void response.writeHead(308, { location }).end());
    const { code, stdout } = await stack.rtc(`webhooks test ${id}`);
    expect([code, stdout]).toEqual([
      7,
      'DELIVERED\tfalse\nSTATUS-CODE\t308\nERROR\tredirects to https://www.example.org/hook?***: register that address\n',
    ]);
    const { stdout: json } = await stack.rtc(`webhooks test ${id} --json hint`);
    expect(JSON.parse(json)).toMatchObject({ hint: { command: `rtc webhooks update ${id} URL` } });
    const deliveries = await stack.rtc(`webhooks deliveries ${id} --attempts`);
    expect(deliveries.stdout).toContain('redirects to https://www.example.org/hook?***');
    expect(deliveries.stdout).not.toContain('token=secret');
    receiver.behave(respondWith(200));
  });

  it('explains why there was no response', async () => {
    const { id } = await create();
    await receiver.close();
    const { code, stdout } = await stack.rtc(`webhooks test ${id}`);
    receiver = await startReceiver();
    expect(code).toBe(7);
    expect(stdout).toContain('ERROR\tthe connection was refused\n');
  });
});

describe('webhooks stats', () => {
  it('tell that a receiver fails at its first refusal, and count by outcome', async () => {
    const { id } = await create(' --events room_started,participant_joined');
    const read = async () =>
      JSON.parse((await stack.rtc(`webhooks stats ${id} --json`)).stdout) as WebhookStats;
    expect(await read()).toMatchObject({ health: 'unused', delivered: 0, oldestPendingAt: null });
    receiver.behave((request, response, received) =>
      respondWith(received.body.event === 'room_started' ? 200 : 500)(request, response, received),
    );
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true, 2);
    await expect.poll(async () => (await read()).retrying).toBe(1);
    const stats = await read();
    expect(stats).toMatchObject({
      health: 'unsteady',
      delivered: 1,
      failed: 0,
      pending: 1,
      isComplete: true,
    });
    expect(stats.periods).toHaveLength(48);
    expect(stats.periods.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1);
    expect((await stack.rtc(`webhooks stats ${id}`)).stdout).toContain('unsteady');
    expect((await stack.rtc(`webhooks stats ${id} --since 9999d`)).stderr).toContain('by at most 400 days');
  });
});

describe('webhooks deliveries', () => {
  it('show status, code, attempts and the error of the last attempt', async () => {
    const { id } = await create(' --events room_started,participant_joined');
    receiver.behave((request, response, received) =>
      respondWith(received.body.event === 'room_started' ? 200 : 500)(request, response, received),
    );
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true, 2);
    await untilSettled(id);
    const { stdout } = await stack.rtc(`webhooks deliveries ${id}`);
    const rows = stdout
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line.split('\t'))
      // Events of the same millisecond have no fixed order.
      .sort((one, other) => `${one[1]}`.localeCompare(`${other[1]}`));
    expect(rows).toEqual([
      [
        expect.stringMatching(/^dlv_/),
        'participant_joined',
        'pending',
        '500',
        '1',
        expect.stringMatching(/Z$/),
        'the receiver responded with 500',
      ],
      [
        expect.stringMatching(/^dlv_/),
        'room_started',
        'delivered',
        '200',
        '1',
        expect.stringMatching(/Z$/),
        '',
      ],
    ]);
    const pending = await stack.rtc(`webhooks deliveries ${id} --status pending --json event`);
    expect(JSON.parse(pending.stdout).deliveries).toEqual([{ event: 'participant_joined' }]);
    const [{ eventId } = { eventId: '' }] = await listDeliveries(id);
    const ofEvent = await stack.rtc(`webhooks deliveries ${id} --event ${eventId} --json event`);
    expect(JSON.parse(ofEvent.stdout).deliveries).toEqual([{ event: 'participant_joined' }]);
    const shown = await stack.rtc(`webhooks deliveries ${id}`, {
      terminals: ['stdout'],
      columns: 140,
      env: { FORCE_COLOR: '1' },
    });
    expect(shown.stdout).toMatch(/\u001b\[33magain (?:now|in \d s)\u001b\[39m/);
    expect(shown.stdout).toContain('\u001b[32mdelivered\u001b[39m');
    expect(shown.stdout).toContain('\u001b[31m500\u001b[39m');
  });

  it.each(['', ' --attempts'])('never cut an id on a narrow terminal%s', async (words) => {
    const { id } = await create();
    receiver.behave(respondWith(500));
    await stack.rtc(`webhooks test ${id}`);
    const [delivery] = await listDeliveries(id);
    const { stdout } = await stack.rtc(`webhooks deliveries ${id}${words}`, {
      terminals: ['stdout'],
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toMatch(new RegExp(`^${delivery?.id} .*the receiver`, 'm'));
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('show every attempt and the response, escaped', async () => {
    const { id } = await create();
    receiver.behave(respondWith(500, 'first\u001b[2Jline\nsecond'));
    await stack.rtc(`webhooks test ${id}`);
    const plain = await stack.rtc(`webhooks deliveries ${id} --attempts`);
    expect(plain.stdout).toMatch(
      /\twebhook_test\t1\t.*Z\t500\t\d+\tthe receiver responded with 500\tfirst\\u001b\[2Jline\\nsecond\n$/,
    );
    const shown = await stack.rtc(`webhooks deliveries ${id} --attempts`, {
      terminals: ['stdout'],
      columns: 200,
      env: { NO_COLOR: '1' },
    });
    expect(shown.stdout).not.toContain('\u001b');
    expect(shown.stdout).toContain('first\\u001b[2Jline\\nsecond');
  });

  it.each([
    [1, [1]],
    [200, [200]],
    [201, [200, 1]],
    [450, [200, 200, 50]],
  ])('read as many pages as --limit %i needs', async (limit, sizes) => {
    const pages: number[] = [];
    const server = await startHttpServer(({ url }, response) => {
      const size = Number(new URL(url, 'http://x').searchParams.get('limit'));
      pages.push(size);
      json(response, 200, {
        deliveries: Array.from({ length: size }, () => ({ attempts: [] })),
        nextCursor: `c${pages.length}`,
      });
    });
    const { code, stdout } = await stack.rtc(`webhooks deliveries wh_1 --limit ${limit} --json`, {
      env: { RTC_URL: server.url },
    });
    await server.close();
    expect([code, pages]).toEqual([0, sizes]);
    expect((JSON.parse(stdout) as { deliveries: object[] }).deliveries).toHaveLength(limit);
  });

  it.each(['0', '10001', 'x'])('refuse --limit %s', async (limit) => {
    expect((await stack.rtc(`webhooks deliveries wh_1 --limit ${limit}`)).code).toBe(2);
  });

  it('are watched as JSON lines of changes', async () => {
    const { id } = await create(' --events participant_joined');
    const stop = new AbortController();
    const watched = stack.rtc(`webhooks deliveries ${id} --watch`, {
      signal: stop.signal,
      onStdout: (soFar) => {
        if (soFar.includes('"status":"delivered"')) stop.abort();
      },
    });
    await stack.join(room, 'ada');
    const { code, stdout } = await watched;
    expect(code).toBe(0);
    const changes = jsonLines<{ record: Delivery }>(stdout);
    expect(changes.at(-1)?.record).toMatchObject({ event: 'participant_joined', status: 'delivered' });
  });
});

describe('webhooks replay', () => {
  it('sends one delivery again, with the same event id', async () => {
    const { id } = await create(' --events participant_joined');
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true);
    await untilSettled(id);
    const [delivery] = await listDeliveries(id);
    expect(await stack.rtc(`webhooks replay ${id} ${delivery?.id}`)).toEqual({
      code: 0,
      stdout: 'REPLAYED\t1\n',
      stderr: '',
    });
    const both = await receiver.waitFor(() => true, 2);
    expect(new Set(both.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('sends all failed deliveries again, or those since an instant', async () => {
    const { id } = await create(' --events participant_joined');
    receiver.behave(respondWith(500));
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true);
    await untilSettled(id);
    expect(await failPending(stack.dataDir)).toBe(1);
    const none = await stack.rtc(
      `webhooks replay ${id} --since ${new Date(Date.now() + 60_000).toISOString()} --json`,
    );
    expect(none.stdout).toBe('{"replayed":0}\n');
    receiver.behave(respondWith(200));
    expect((await stack.rtc(`webhooks replay ${id} --since 5m --json`)).stdout).toBe('{"replayed":1}\n');
    await receiver.waitFor(() => true, 2);
    await expect.poll(async () => (await listDeliveries(id))[0]?.status).toBe('delivered');
    expect((await stack.rtc(`webhooks replay ${id} --json`)).stdout).toBe('{"replayed":0}\n');
  });

  it('refuses a pending or unknown delivery, and contradictory options', async () => {
    const { id } = await create(' --events participant_joined');
    receiver.behave(respondWith(500));
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true);
    await untilSettled(id);
    const [delivery] = await listDeliveries(id);
    expect((await stack.rtc(`webhooks replay ${id} ${delivery?.id}`)).code).toBe(5);
    expect((await stack.rtc(`webhooks replay ${id} dlv_absent`)).code).toBe(3);
    expect((await stack.rtc('webhooks replay wh_absent')).code).toBe(3);
    expect((await stack.rtc(`webhooks replay ${id} ${delivery?.id} --since 1h`)).code).toBe(2);
    expect((await stack.rtc(`webhooks replay ${id} --since yesterday`)).code).toBe(2);
  });
});

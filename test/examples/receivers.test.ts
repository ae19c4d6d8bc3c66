import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/contract/deliveries.ts';
import { type EventStack, startEventStack } from '../cli/support/event-stack.ts';

/* Starts the example receivers as processes. They get deliveries of the real service, and forged ones. */

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
const SECRET = 'whsec_TtTMz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=';
const TYPESCRIPT = [process.execPath, `${EXAMPLES}/receiver-ts/receiver.ts`] as const;
const LIBRARY = [process.execPath, `${EXAMPLES}/receiver-ts/receiver-with-library.ts`] as const;
const JAVASCRIPT = [process.execPath, `${EXAMPLES}/receiver-js/receiver.js`] as const;
const PYTHON = ['python3', `${EXAMPLES}/receiver-python/receiver.py`] as const;

type Receiver = {
  readonly url: string;
  /** Lines that the receiver printed about the events that it handled. */
  readonly handled: readonly { readonly event: string; readonly room: string; readonly id: string }[];
  stop(): Promise<void>;
};

let stack: EventStack;
let folder: string;
beforeAll(async () => {
  stack = await startEventStack();
});
afterAll(() => stack.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-receiver-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function start(
  [program, file]: readonly [string, string],
  settings: Readonly<Record<string, string>>,
): Promise<Receiver> {
  const child: ChildProcess = spawn(program, [file], {
    env: {
      ...process.env,
      PORT: '0',
      HANDLED_FILE: join(folder, 'handled.sqlite'),
      RTC_WEBHOOK_SECRET: SECRET,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const handled: Receiver['handled'][number][] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
    if (child.stdout === null) throw new Error('no stdout');
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('Listening on ')) resolve(line.slice('Listening on '.length));
      else handled.push(JSON.parse(line) as Receiver['handled'][number]);
    });
  });
  return {
    url,
    handled,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

type Signed = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/** Signs with both schemes: with the public library, and in this test. */
function sign(id: string, secret = SECRET, ageSeconds = 0): Signed {
  const body = JSON.stringify({ event: 'room_started', room: { name: 'demo' }, id });
  const at = new Date(Date.now() - ageSeconds * 1000);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-service-webhook-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
  };
}

function without({ body, headers }: Signed, ...names: readonly string[]): Signed {
  return {
    body,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
  };
}

async function post({ url }: Receiver, { body, headers }: Signed): Promise<number> {
  const response = await fetch(`${url}/hook`, { method: 'POST', body, headers });
  await response.arrayBuffer();
  return response.status;
}

const OTHER_SECRET = 'whsec_AAAAz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=';
const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

describe.each([
  ['TypeScript', TYPESCRIPT, 'standard'],
  ['TypeScript', TYPESCRIPT, 'body'],
  ['TypeScript with the library', LIBRARY, 'standard'],
  ['Python', PYTHON, 'standard'],
  ['Python', PYTHON, 'body'],
] as const)('the receiver in %s', (_language, command, scheme) => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await start(command, { RTC_WEBHOOK_SCHEME: scheme });
  });
  afterEach(() => receiver.stop());

  it(`(${scheme}) accepts deliveries of the service, and handles each event once`, async () => {
    const room = `room-${Math.random()}`;
    const created = await stack.rtc(`webhooks create ${receiver.url}/hook --secret-stdin --json id`, {
      stdin: SECRET,
    });
    const { id } = JSON.parse(created.stdout) as { id: string };
    const deliveries = async (): Promise<readonly Delivery[]> => {
      const { stdout } = await stack.rtc(`webhooks deliveries ${id} --json`);
      return (JSON.parse(stdout) as { deliveries: Delivery[] }).deliveries;
    };
    await stack.join(room, 'ada');
    const settled = { timeout: 60_000 };
    await expect
      .poll(async () => (await deliveries()).map(({ status }) => status), settled)
      .toEqual(['delivered', 'delivered', 'delivered']);
    // The output arrives separately from the responses.
    await expect
      .poll(() => receiver.handled.map((each) => each.event).sort())
      .toEqual(['participant_joined', 'room_created', 'room_started']);
    const [one] = await deliveries();
    await stack.rtc(`webhooks replay ${id} ${one?.id}`);
    await expect
      .poll(
        async () =>
          (await deliveries()).find((each) => each.id === one?.id)?.attempts.map((each) => each.statusCode),
        settled,
      )
      .toEqual([204, 204]);
    expect(receiver.handled).toHaveLength(3);
    await stack.rtc(`webhooks delete ${id} --yes`);
  });

  it(`(${scheme}) refuses forged deliveries, and handles none of them`, async () => {
    const genuine = sign('evt_1');
    const changed = { ...genuine, body: genuine.body.replace('demo', 'Demo') };
    expect(await post(receiver, changed)).toBe(401);
    expect(await post(receiver, { ...genuine, body: `${genuine.body}\n` })).toBe(401);
    expect(await post(receiver, sign('evt_1', OTHER_SECRET))).toBe(401);
    expect(await post(receiver, { body: genuine.body, headers: {} })).toBe(401);
    expect(await post(receiver, { ...genuine, body: '' })).toBe(401);
    expect(receiver.handled).toEqual([]);
    expect(await post(receiver, genuine)).toBe(204);
    expect(await post(receiver, genuine)).toBe(204);
    await expect.poll(() => receiver.handled).toEqual([{ event: 'room_started', room: 'demo', id: 'evt_1' }]);
  });

  it(`(${scheme}) remembers handled events after a restart`, async () => {
    expect(await post(receiver, sign('evt_1'))).toBe(204);
    await receiver.stop();
    receiver = await start(command, { RTC_WEBHOOK_SCHEME: scheme });
    expect(await post(receiver, sign('evt_1'))).toBe(204);
    expect(await post(receiver, sign('evt_2'))).toBe(204);
    await expect.poll(() => receiver.handled.map(({ id }) => id)).toEqual(['evt_2']);
  });

  it(`(${scheme}) refuses other methods and endless bodies`, async () => {
    expect((await fetch(receiver.url)).status).toBe(405);
    const large = { ...sign('evt_1'), body: 'x'.repeat(1024 * 1024 + 1) };
    // The connection may be closed while the body is being sent.
    expect(await post(receiver, large).catch(() => 413)).toBe(413);
    expect(await post(receiver, sign('evt_1'))).toBe(204);
  });
});

describe.each([
  ['JavaScript', JAVASCRIPT],
  ['TypeScript', TYPESCRIPT],
  ['TypeScript with the library', LIBRARY],
  ['Python', PYTHON],
] as const)('Standard Webhooks in %s', (_language, command) => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await start(command, {});
  });
  afterEach(() => receiver.stop());

  it('refuses forged deliveries, old and early ones, and the other scheme', async () => {
    expect(await post(receiver, sign('evt_1', SECRET, 310))).toBe(401);
    expect(await post(receiver, sign('evt_1', OTHER_SECRET))).toBe(401);
    expect(await post(receiver, sign('evt_1', SECRET, -310))).toBe(401);
    const moved = sign('evt_1', SECRET, 310);
    const now = { ...moved.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
    expect(await post(receiver, { ...moved, headers: now })).toBe(401);
    for (const name of STANDARD_HEADERS) expect(await post(receiver, without(sign('evt_1'), name))).toBe(401);
    expect(await post(receiver, without(sign('evt_1'), ...STANDARD_HEADERS))).toBe(401);
    expect(receiver.handled).toEqual([]);
    expect(await post(receiver, sign('evt_1', SECRET, 290))).toBe(204);
    expect(await post(receiver, sign('evt_2', SECRET, -290))).toBe(204);
    await expect.poll(() => receiver.handled.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
  });

  it('accepts one of several signatures, as in a rotation', async () => {
    const [valid, other] = [sign('evt_1'), sign('evt_1', OTHER_SECRET)];
    const both = `${other.headers['webhook-signature']} ${valid.headers['webhook-signature']}`;
    expect(await post(receiver, { ...valid, headers: { ...valid.headers, 'webhook-signature': both } })).toBe(
      204,
    );
  });
});

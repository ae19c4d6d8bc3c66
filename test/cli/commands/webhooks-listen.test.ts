import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectedSignatures,
  type Receiver,
  respondWith,
  startReceiver,
} from '../../server/webhooks/support/receiver.ts';
import { readPort } from '../../support/forwarding-server.ts';
import { type EventStack, jsonLines, startEventStack } from '../support/event-stack.ts';
import { startRtc } from '../support/process.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

type Line = {
  readonly type: 'ready' | 'event' | 'answer' | 'down' | 'up' | 'end';
  readonly event?: { readonly event: string; readonly id: string } | string;
  readonly statusCode?: number | null;
  readonly error?: string | null;
  readonly attempt?: number;
  readonly isTriedAgain?: boolean;
  readonly waiting?: number;
  readonly cursor?: string;
};

let stack: EventStack;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startEventStack();
});
afterAll(() => stack.close());

let number = 0;
let room: string;
const running: Listening[] = [];
beforeEach(async () => {
  number += 1;
  room = `room-${number}`;
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  await receiver.close();
});

type Listening = {
  /** Resolves when `count` lines of this type (one by default) have been printed. */
  seen(type: Line['type'], count?: number): Promise<void>;
  lines(): readonly Line[];
  stop(): Promise<Run>;
};

/** Starts a command that follows and prints JSON lines. Resolves when it is ready. */
async function follow(line: string, options: RunOptions = {}): Promise<Listening> {
  const end = new AbortController();
  const changes = new EventTarget();
  let lines: readonly Line[] = [];
  const ended = stack.rtc(line, {
    ...options,
    signal: end.signal,
    onStdout: (soFar) => {
      lines = jsonLines<Line>(soFar);
      changes.dispatchEvent(new Event('change'));
    },
  });
  const listening: Listening = {
    lines: () => lines,
    seen: (type, count = 1) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (lines.filter((each) => each.type === type).length >= count) resolve();
        };
        changes.addEventListener('change', check);
        check();
        void ended.then(({ stderr }) => reject(new Error(`ended without ${count} ${type}: ${stderr}`)));
      }),
    stop: () => {
      end.abort();
      return ended;
    },
  };
  running.push(listening);
  await listening.seen('ready');
  return listening;
}

const listen = (words = ''): Promise<Listening> =>
  follow(`webhooks listen --forward-to ${receiver.url}/hook${words}`);

const OPENING = ['room_created', 'room_started', 'participant_joined'];

describe('webhooks listen', () => {
  it('forwards each event as a webhook gets it, with both signatures', async () => {
    const { stdout: secret } = await stack.rtc('webhooks listen --print-secret');
    const listening = await listen();
    await stack.join(room, 'ada');
    const received = await receiver.waitFor(() => true, 3);
    expect(received.map(({ body }) => body.event)).toEqual(OPENING);
    for (const each of received) {
      const expected = expectedSignatures(each, secret.trim());
      expect(each.path).toBe('/hook');
      expect(each.headers).toMatchObject({
        'content-type': 'application/json',
        'x-service-webhook-event': each.body.event,
        'x-service-webhook-signature': expected.specified,
        'webhook-id': each.body.id,
        'webhook-signature': expected.standard,
      });
      const headers = each.headers as Record<string, string>;
      expect(new Webhook(secret.trim()).verify(each.text, headers)).toEqual(each.body);
    }
    await listening.seen('answer', 3);
    const { code, stderr } = await listening.stop();
    expect(code).toBe(0);
    expect(stderr).toContain(`Signing secret: ${secret.trim()}`);
    expect(listening.lines().at(-1)).toEqual({ type: 'end', waiting: 0 });
  });

  it('forwards byte for byte what a registered webhook gets', async () => {
    const registered = await startReceiver();
    await stack.rtc(`webhooks create ${registered.url} --events participant_joined,room_closed`);
    await listen(' --events participant_joined,room_closed');
    await stack.join(room, 'ada');
    await stack.rtc(`rooms delete ${room} --yes`);
    const [forwarded, delivered] = await Promise.all([
      receiver.waitFor(() => true, 2),
      registered.waitFor(() => true, 2),
    ]);
    await registered.close();
    const texts = (all: readonly { text: string }[]): readonly string[] => all.map(({ text }) => text).sort();
    expect(texts(forwarded)).toEqual(texts(delivered));
    expect(forwarded.map(({ body }) => body.event).sort()).toEqual(['participant_joined', 'room_closed']);
  });

  it('forwards only one room, and no earlier events', async () => {
    await stack.join(room, 'early');
    const listening = await listen(` --room ${room}`);
    await stack.join(`${room}-other`, 'bob');
    await stack.join(room, 'ada');
    const received = await receiver.waitFor(() => true);
    await listening.stop();
    expect(received.map(({ body }) => [body.room.name, body.participant?.identity])).toEqual([[room, 'ada']]);
  });

  it('keeps events while the receiver is down, and sends them in order when it is back', async () => {
    const { port } = new URL(receiver.url);
    const listening = await listen();
    await receiver.close();
    await stack.join(room, 'ada');
    await stack.join(room, 'bob');
    await listening.seen('down');
    receiver = await startReceiver(respondWith(200), Number(port));
    const received = await receiver.waitFor(() => true, 4);
    await listening.seen('answer', 4);
    expect(received.map(({ body }) => body.event)).toEqual([...OPENING, 'participant_joined']);
    expect(new Set(received.map(({ body }) => body.id)).size).toBe(4);
    const outages = listening.lines().filter(({ type }) => type === 'down' || type === 'up');
    expect(outages.map(({ type }) => type)).toEqual(['down', 'up']);
    expect(outages[0]?.error).toContain('ECONNREFUSED');
  });

  it('shows a response that is not 2xx, and continues without repeating the request', async () => {
    receiver.behave((request, response, one) =>
      respondWith(one.body.event === 'room_started' ? 500 : 204)(request, response, one),
    );
    const listening = await listen();
    await stack.join(room, 'ada');
    await listening.seen('answer', 3);
    const responses = listening.lines().filter(({ type }) => type === 'answer');
    expect(responses.map(({ event, statusCode, error }) => [event, statusCode, error])).toEqual([
      ['room_created', 204, null],
      ['room_started', 500, 'not accepted'],
      ['participant_joined', 204, null],
    ]);
    expect(receiver.received).toHaveLength(3);
  });

  it('follows no redirect', async () => {
    receiver.behave((_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end());
    const listening = await listen(' --events room_started');
    await stack.join(room, 'ada');
    await listening.seen('answer');
    expect(listening.lines().find(({ type }) => type === 'answer')).toMatchObject({
      statusCode: 307,
      error: `redirects to ${receiver.url}/elsewhere: register that address`,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('reports that a receiver does not speak TLS', async () => {
    const listening = await follow(
      `webhooks listen --forward-to ${receiver.url.replace('http', 'https')} --events room_started`,
    );
    await stack.join(room, 'ada');
    await listening.seen('answer');
    expect(listening.lines().find(({ type }) => type === 'answer')).toMatchObject({
      statusCode: null,
      error: expect.stringContaining('the TLS certificate or handshake is not valid ('),
      isTriedAgain: false,
    });
  });

  it('names the remedy for a certificate that is not trusted, and accepts it with --skip-verify', async () => {
    const folder = join(import.meta.dirname, '../../server/webhooks/sender/certificates');
    const [key, cert] = ['server.key', 'self-signed.pem'].map((name) => readFileSync(join(folder, name)));
    const server = createServer({ key, cert }, (_request, response) => response.end('taken'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const words = `webhooks listen --forward-to https://127.0.0.1:${readPort(server)}/ --events room_started`;
      const [refused, accepted] = [await follow(words), await follow(`${words} --skip-verify`)];
      await stack.join(room, 'ada');
      await Promise.all([refused.seen('answer'), accepted.seen('answer')]);
      const answerOf = (listening: Listening) => listening.lines().find(({ type }) => type === 'answer');
      expect(answerOf(refused)?.error).toContain('NODE_EXTRA_CA_CERTS');
      expect(answerOf(accepted)).toMatchObject({ statusCode: 200 });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('tries a broken connection three times, then continues', async () => {
    receiver.behave((request, response, one) => {
      if (one.body.event === 'room_started') request.socket.destroy();
      else respondWith(200)(request, response, one);
    });
    const listening = await listen();
    await stack.join(room, 'ada');
    await receiver.waitFor(({ body }) => body.event === 'participant_joined');
    const tries = listening
      .lines()
      .filter(({ type, event }) => type === 'answer' && event === 'room_started');
    expect(tries.map(({ attempt, isTriedAgain }) => [attempt, isTriedAgain])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
  });

  it('loses no event while the service restarts', async () => {
    const listening = await listen(` --room ${room} --events participant_joined`);
    await stack.join(room, 'ada');
    await receiver.waitFor(() => true);
    await stack.stopService();
    await stack.startService();
    await stack.join(room, 'bob');
    const received = await receiver.waitFor(() => true, 2);
    await listening.seen('answer', 2);
    expect(received.map(({ body }) => body.participant?.identity)).toEqual(['ada', 'bob']);
    expect((await listening.stop()).code).toBe(0);
  });

  it('says how to send missed events to the receiver later', async () => {
    const { port } = new URL(receiver.url);
    const listening = await listen(` --room ${room} --events room_started,participant_joined`);
    await receiver.close();
    await stack.join(`other-${room}`, 'bob');
    await stack.join(room, 'ada');
    await listening.seen('event', 2);
    const { stderr } = await listening.stop();
    const command = /rtc (events tail .*)/.exec(stderr)?.[1];
    expect(stderr).toContain('2 events did not reach');
    receiver = await startReceiver(respondWith(200), Number(port));
    await follow(command ?? '');
    const received = await receiver.waitFor(() => true, 2);
    const forwarded = received.map(({ body }) => [body.event, body.room?.name]);
    expect(forwarded).toEqual([
      ['room_started', room],
      ['participant_joined', room],
    ]);
  });

  it('signs with RTC_WEBHOOK_SECRET when it is set, and does not print it', async () => {
    const secret = 'whsec_TtTMz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=';
    const listening = await follow(`webhooks listen --forward-to ${receiver.url}`, {
      env: { RTC_WEBHOOK_SECRET: secret },
    });
    await stack.join(room, 'ada');
    const [one] = await receiver.waitFor(() => true);
    const { stdout, stderr } = await listening.stop();
    if (one === undefined) throw new Error('no event');
    expect(one.headers['webhook-signature']).toBe(expectedSignatures(one, secret).standard);
    expect(stdout + stderr).not.toContain(secret);
    expect(stderr).toContain('Signed with RTC_WEBHOOK_SECRET.');
  });

  it('derives the same secret each time, another one for another key, and sends no request for it', async () => {
    const readSecret = async (secret: string): Promise<string> => {
      const env = { RTC_URL: 'http://127.0.0.1:9', RTC_API_KEY: 'key', RTC_API_SECRET: secret };
      return (await run(['webhooks', 'listen', '--print-secret'], { env })).stdout;
    };
    expect(await readSecret('one')).toMatch(/^whsec_[\w+/]{43}=\n$/);
    expect(await readSecret('one')).toBe(await readSecret('one'));
    expect(await readSecret('one')).not.toBe(await readSecret('two'));
  });

  it('shows two lines per event on a terminal, with hostile text escaped', async () => {
    const end = new AbortController();
    receiver.behave(respondWith(500, 'bad\u001b[2Jthing\nmore'));
    const ended = stack.rtc(`webhooks listen --forward-to ${receiver.url}`, {
      terminals: ['stdout'],
      env: { FORCE_COLOR: '1' },
      signal: end.signal,
      onStdout: (soFar) => {
        if (soFar.split('<--').length > 3) end.abort();
      },
    });
    const evil = `${room}\u202e`;
    // Nothing is printed before the first event. Participants join until enough was printed.
    await expect
      .poll(async () => {
        await stack.join(evil, `ada-${Math.random()}`);
        return end.signal.aborted;
      })
      .toBe(true);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/\d\d:\d\d:\d\d.*--> \u001b\[36m\w+ *\u001b\[39m.*room-\d+\\u202e/);
    expect(stdout).toMatch(
      /<-- \u001b\[31m500\u001b\[39m {2}\w+.* ms.*not accepted: bad\\u001b\[2Jthing\u001b/,
    );
    expect(stdout).not.toContain('\u202e');
    expect(stdout).not.toContain('\u001b[2J');
  });

  it('shows events without a receiver, as rtc events tail does', async () => {
    const end = new AbortController();
    const shown = stack.rtc(`webhooks listen --room ${room} --events room_started --json event,room`, {
      terminals: ['stderr'],
      signal: end.signal,
      onStderr: (soFar) => {
        if (soFar.includes('--forward-to')) void stack.join(room, 'ada');
      },
      onStdout: () => end.abort(),
    });
    const { code, stdout } = await shown;
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([
      { event: 'room_started', room: expect.objectContaining({ name: room }) },
    ]);
  });

  it.each([
    [
      'webhooks listen --forward-to https://hooks.example.org --skip-verify',
      '--skip-verify is for a receiver on this',
    ],
    ['webhooks listen --forward-to ftp://x', 'is not an address of a receiver'],
    ['webhooks listen --forward-to http://u:p@localhost/', 'must not contain a user name'],
    ['webhooks listen --forward-to 4000 --events nope', 'is not an event name'],
  ])('refuses %s', async (line, message) => {
    const { code, stderr } = await stack.rtc(line);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it.each([
    [`4000`, 'http://localhost:4000/'],
    ['localhost:4000/hook', 'http://localhost:4000/hook'],
    ['https://example.org/a?b=c', 'https://example.org/a?b=c'],
  ])('accepts %s for %s', async (word, url) => {
    const listening = await follow(`webhooks listen --forward-to ${word}`);
    expect(listening.lines()[0]).toEqual({ type: 'ready', forwardTo: url });
  });

  it('ends with 4 when the key is wrong, and with 6 when the service does not respond', async () => {
    const words = ['webhooks', 'listen', '--forward-to', '4000'];
    const env = stack.environment;
    expect((await run(words, { env: { ...env, RTC_API_SECRET: 'wrong' } })).code).toBe(4);
    expect((await run(words, { env: { ...env, RTC_URL: 'http://127.0.0.1:9' } })).code).toBe(6);
  });

  it('exits with 0 as a process on Ctrl-C', async () => {
    const started = startRtc(['webhooks', 'listen', '--forward-to', `${receiver.url}/hook`], {
      env: stack.environment,
    });
    await started.seen(/"type":"ready"/);
    await stack.join(room, 'ada');
    await started.seen(/"type":"answer"[^\n]*participant_joined/);
    started.child.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 0, signal: null });
  });
});

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LAUNCHER } from '../../support/parts/built.ts';
import { json, startHttpServer } from '../support/http-server.ts';
import { COVERAGE_ENVIRONMENT } from '../support/process.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let home: string;
beforeAll(async () => {
  stack = await startStack();
  home = await mkdtemp(join(tmpdir(), 'rtc-prompts-'));
});
afterAll(async () => {
  await stack.close();
  await rm(home, { recursive: true, force: true });
});

const DOWN = '\u001b[B';
const ENTER = '\r';
const CTRL_C = '\u0003';
/** Ctrl-U. */
const CLEAR = '\u0015';

let terminal: Terminal | undefined;
afterEach(() => terminal?.kill());

/** rtc in a pseudo-terminal. */
class Terminal {
  readonly #pty: IPty;
  #text = '';
  #waiting: (() => void)[] = [];
  readonly ended: Promise<number>;

  constructor(argv: readonly string[], env: Readonly<Record<string, string>>) {
    this.#pty = spawn(process.execPath, [LAUNCHER, ...argv], {
      cols: 100,
      rows: 30,
      env: {
        PATH: process.env.PATH ?? '',
        TERM: 'xterm-256color',
        XDG_CONFIG_HOME: home,
        HOME: home,
        ...COVERAGE_ENVIRONMENT,
        ...env,
      },
    });
    this.#pty.onData((data) => {
      this.#text += data;
      for (const check of this.#waiting) check();
    });
    this.ended = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  get raw(): string {
    return this.#text;
  }

  /** Resolves when the output so far, without escape sequences, matches. */
  async sees(pattern: RegExp): Promise<void> {
    const isSeen = new Promise<void>((resolve) => {
      const check = (): void => {
        if (pattern.test(stripVTControlCharacters(this.#text))) resolve();
      };
      this.#waiting.push(check);
      check();
    });
    const hasEnded = this.ended.then((code) => {
      if (!pattern.test(stripVTControlCharacters(this.#text))) {
        throw new Error(`ended with ${code} without ${pattern}: ${this.#text}`);
      }
    });
    await Promise.race([isSeen, hasEnded]);
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  kill(): void {
    this.#pty.kill();
  }
}

function open(argv: readonly string[], env: Readonly<Record<string, string>> = stack.environment): Terminal {
  terminal = new Terminal(argv, env);
  return terminal;
}

const exists = async (room: string): Promise<boolean> =>
  (await run(['rooms', 'get', room], { env: stack.environment })).code === 0;

async function createRoom(room: string, ...people: readonly string[]): Promise<void> {
  await run(['rooms', 'create', room], { env: stack.environment });
  for (const person of people) await run(['dev', 'join', room, person], { env: stack.environment });
}

/** Adds a profile of the service. The environment variables of the tests must not hide it. */
async function addProfile(name: string, ...options: readonly string[]): Promise<void> {
  const { url, apiKey, apiSecret } = stack.service;
  const argv = ['profile', 'add', name, '--url', url, '--api-key', apiKey, '--secret-stdin', ...options];
  const { code } = await run([...argv, '--yes'], { env: { XDG_CONFIG_HOME: home }, stdin: apiSecret });
  expect(code).toBe(0);
}

describe('at a terminal', () => {
  it('a deletion names what is lost, and a yes confirms it', async () => {
    await createRoom('doomed', 'ada', 'bob', 'eve');
    const rtc = open(['rooms', 'delete', 'doomed']);
    await rtc.sees(/Delete room doomed\? 3 participants will be disconnected/);
    rtc.type(`y${ENTER}`);
    expect(await rtc.ended).toBe(0);
    expect(await exists('doomed')).toBe(false);
  });

  it('a deletion names the service and the profile that it comes from', async () => {
    await createRoom('named');
    const rtc = open(['rooms', 'delete', 'named']);
    await rtc.sees(/Service: http:\/\/127\.0\.0\.1:\d+ \(RTC_URL\)\s+. Delete room named\?/);
    rtc.type(`n${ENTER}`);
    expect(await rtc.ended).toBe(130);
    await addProfile('staging');
    const staging = open(['rooms', 'delete', 'named', '--profile', 'staging'], {});
    await staging.sees(/Service: http:\/\/127\.0\.0\.1:\d+ \(profile staging\)\s+. Delete room named\?/);
    staging.type(`n${ENTER}`);
    expect(await staging.ended).toBe(130);
  });

  it('a deletion on a protected profile is red and requires the name of the profile', async () => {
    await createRoom('precious');
    await addProfile('prod', '--protected');
    const rtc = open(['rooms', 'delete', 'precious', '--profile', 'prod'], {});
    await rtc.sees(/profile prod\), which is protected\s+Delete room precious\?[\s\S]*Type prod to confirm:/);
    expect(rtc.raw).toContain('\u001b[31mDelete room precious?');
    rtc.type(`y${ENTER}`);
    await rtc.sees(/Type prod, or press Ctrl-C/);
    expect(await exists('precious')).toBe(true);
    rtc.type(`${CLEAR}prod${ENTER}`);
    expect(await rtc.ended).toBe(0);
    expect(await exists('precious')).toBe(false);
  });

  it.each([
    ['no', `n${ENTER}`],
    ['Enter', ENTER],
    ['Ctrl-C', CTRL_C],
  ])('%s changes nothing and exits with 130', async (_what, keys) => {
    await createRoom('spared');
    const rtc = open(['rooms', 'delete', 'spared']);
    await rtc.sees(/Delete room spared\? Nobody is in it/);
    rtc.type(keys);
    expect(await rtc.ended).toBe(130);
    await rtc.sees(/Cancelled: nothing was changed/);
    expect(await exists('spared')).toBe(true);
  });

  it('a new secret of a webhook is made after a yes, and not without', async () => {
    const words = ['webhooks', 'create', 'https://example.org/hook', '--json', 'id'];
    const { id } = JSON.parse((await run(words, { env: stack.environment })).stdout) as {
      readonly id: string;
    };
    const refused = open(['webhooks', 'rotate', id]);
    await refused.sees(/Give https:\/\/example\.org\/hook a new secret\?/);
    refused.type(ENTER);
    expect(await refused.ended).toBe(130);
    expect(refused.raw).not.toContain('whsec_');
    const rtc = open(['webhooks', 'rotate', id]);
    await rtc.sees(/a new secret\?/);
    rtc.type(`y${ENTER}`);
    expect(await rtc.ended).toBe(0);
    await rtc.sees(/whsec_\S{44}/);
  });

  it('Ctrl-D cancels a question as Ctrl-C does', async () => {
    await createRoom('kept');
    for (const words of [
      ['rooms', 'delete', 'kept'],
      ['rooms', 'create'],
      ['profile', 'add', 'new'],
    ]) {
      const at = open(words);
      await at.sees(/[?]/);
      at.type('\u0004');
      expect(await at.ended).toBe(130);
    }
    expect(await exists('kept')).toBe(true);
  });

  it('a missing room is chosen from a list, which gets shorter during typing', async () => {
    await createRoom('maple');
    await createRoom('birch', 'ada', 'bob');
    const rtc = open(['rooms', 'get', '--json', 'name,sid']);
    await rtc.sees(/Name of the room:[\s\S]*(maple[\s\S]*birch|birch[\s\S]*maple)/);
    rtc.type('map');
    await rtc.sees(/Name of the room: map\s+. maple/);
    rtc.type(ENTER);
    expect(await rtc.ended).toBe(0);
    await rtc.sees(/"name": "maple"/);
  });

  it('an argument that depends on a chosen one is chosen too', async () => {
    await createRoom('cedar', 'ada', 'bob');
    const rtc = open(['participants', 'remove']);
    await rtc.sees(/Name of the room:/);
    rtc.type('ceda');
    await rtc.sees(/Name of the room: ceda\s+. cedar/);
    rtc.type(ENTER);
    await rtc.sees(/Identity of the participant:[\s\S]*bob/);
    rtc.type('bo');
    await rtc.sees(/Identity of the participant: bo\s+. bob/);
    rtc.type(ENTER);
    await rtc.sees(/Remove bob/);
    rtc.type(`y${ENTER}`);
    expect(await rtc.ended).toBe(0);
    const left = await run(['participants', 'list', 'cedar'], { env: stack.environment });
    expect(left.stdout).not.toContain('bob');
  });

  it('a key to revoke and a session are chosen by their descriptions', async () => {
    const made = await run(['keys', 'create', 'dashboard', '--scope', 'read', '--json', 'id'], {
      env: stack.environment,
    });
    const { id } = JSON.parse(made.stdout);
    const revoking = open(['keys', 'revoke']);
    await revoking.sees(/dashboard, active/);
    revoking.type(ENTER);
    await revoking.sees(/Revoke key_/);
    revoking.type(`y${ENTER}`);
    expect(await revoking.ended).toBe(0);
    const { stdout } = await run(['keys', 'get', id, '--json', 'status'], { env: stack.environment });
    expect(JSON.parse(stdout)).toEqual({ status: 'revoked' });
    await createRoom('willow', 'ada');
    const session = () => run(['sessions', 'get', 'willow'], { env: stack.environment });
    await expect.poll(async () => (await session()).code).toBe(0);
    const rtc = open(['sessions', 'get', '--json', 'roomId,status']);
    await rtc.sees(/willow, open/);
    rtc.type('willow');
    await rtc.sees(/its last session: willow\s+. RM_/);
    rtc.type(ENTER);
    expect(await rtc.ended).toBe(0);
    await rtc.sees(/"roomId": "willow"/);
  });

  it('an empty list says what to do instead', async () => {
    const rtc = open(['recordings', 'get']);
    expect(await rtc.ended).toBe(3);
    await rtc.sees(/there is no recording\s+Next: +start one: rtc recordings start/);
  });

  it('hostile names in a list are harmless', async () => {
    const hostile = 'evil\u202egnp';
    await createRoom(hostile);
    const rtc = open(['rooms', 'get', '--json', 'name,sid']);
    await rtc.sees(/Name of the room:/);
    rtc.type('evil');
    await rtc.sees(/Name of the room: evil\s+. evil\\u202egnp/);
    expect(rtc.raw).not.toContain('\u202e');
    rtc.type(ENTER);
    expect(await rtc.ended).toBe(0);
    await run(['rooms', 'delete', hostile, '--yes'], { env: stack.environment });
  });

  it('with CI set nothing can be chosen, as without a terminal', async () => {
    const rtc = open(['rooms', 'get'], { ...stack.environment, CI: 'true' });
    expect(await rtc.ended).toBe(2);
    await rtc.sees(/missing ROOM/);
  });

  it('a missing argument is asked for', async () => {
    const rtc = open(['tokens', 'create']);
    await rtc.sees(/Name of the room:/);
    rtc.type(`demo${ENTER}`);
    await rtc.sees(/Unique identity of the person:/);
    rtc.type(`ada${ENTER}`);
    await rtc.sees(/What the person may do:/);
    rtc.type(`${DOWN}${ENTER}`);
    expect(await rtc.ended).toBe(0);
    await rtc.sees(/For ada in demo as moderator/);
  });

  it('an empty answer is asked for again', async () => {
    const rtc = open(['rooms', 'create']);
    await rtc.sees(/Name of the room:/);
    rtc.type(ENTER);
    await rtc.sees(/Please type a value/);
    rtc.type(`typed${ENTER}`);
    expect(await rtc.ended).toBe(0);
    expect(await exists('typed')).toBe(true);
  });

  it('a profile is asked for, its secret never shown', async () => {
    const rtc = open(['profile', 'add', 'asked'], {});
    await rtc.sees(/Address of the service:/);
    rtc.type(`ftp://x${ENTER}`);
    await rtc.sees(/Must start with http/);
    rtc.type(`${CLEAR}${stack.service.url}${ENTER}`);
    await rtc.sees(/API key:/);
    rtc.type(`${stack.service.apiKey}${ENTER}`);
    await rtc.sees(/API secret:/);
    rtc.type(`${stack.service.apiSecret}${ENTER}`);
    expect(await rtc.ended).toBe(0);
    expect(rtc.raw).not.toContain(stack.service.apiSecret);
    expect((await stat(join(home, 'rtc', 'config.json'))).mode & 0o777).toBe(0o600);
    expect((await run(['rooms', 'list'], { env: { XDG_CONFIG_HOME: home } })).code).toBe(0);
  });

  it('nothing is asked with CI set', async () => {
    const rtc = open(['rooms', 'create'], { ...stack.environment, CI: '1' });
    expect(await rtc.ended).toBe(2);
    await rtc.sees(/missing NAME/);
  });

  it('a list is a coloured table, and plain with TERM=dumb', async () => {
    await createRoom('shown');
    const coloured = open(['rooms', 'list']);
    expect(await coloured.ended).toBe(0);
    expect(coloured.raw).toContain('\u001b[36mshown');
    await coloured.sees(/NAME +PARTICIPANTS +RECORDING +CREATED/);
    const plain = open(['rooms', 'list'], { ...stack.environment, TERM: 'dumb' });
    expect(await plain.ended).toBe(0);
    expect(plain.raw).not.toContain('\u001b');
  });

  it('a watch redraws on a screen of its own, and Ctrl-C restores the old one', async () => {
    await createRoom('first');
    const rtc = open(['rooms', 'list', '--watch']);
    await rtc.sees(/first[\s\S]*\n\d\d:\d\d:\d\d · every 2 s · q ends/);
    await createRoom('second');
    await rtc.sees(/second/);
    rtc.type(CTRL_C);
    expect(await rtc.ended).toBe(0);
    expect(rtc.raw).toMatch(/^\u001b\[\?1049h[\s\S]*\u001b\[\?1049l$/);
  });

  it('a slow request is announced, with the option that ends it sooner', async () => {
    const released = Promise.withResolvers<void>();
    const slow = await startHttpServer(
      (_request, response) => void released.promise.then(() => json(response, 200, { rooms: [] })),
    );
    const rtc = open(['rooms', 'list', '--request-timeout', '50s'], {
      ...stack.environment,
      RTC_URL: slow.url,
    });
    await rtc.sees(/has not responded yet; waiting up to 50 s \(--request-timeout\)/);
    released.resolve();
    expect(await rtc.ended).toBe(0);
    await slow.close();
  });

  it('q ends a watch, and no key is echoed into it', async () => {
    await createRoom('drawn');
    const rtc = open(['rooms', 'list', '--watch']);
    await rtc.sees(/drawn[\s\S]*q ends/);
    rtc.type('zzz');
    await createRoom('later');
    await rtc.sees(/later[\s\S]*q ends/);
    expect(rtc.raw).not.toContain('zzz');
    rtc.type('q');
    expect(await rtc.ended).toBe(0);
    expect(rtc.raw).toMatch(/\u001b\[\?1049l$/);
  });
});

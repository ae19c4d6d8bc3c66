import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const rtc = (line: string, options: Parameters<typeof run>[1] = {}): Promise<Run> =>
  run(line.split(' '), { ...options, env: { ...stack.environment, ...options.env } });

let number = 0;
let room: string;
beforeEach(() => {
  number += 1;
  room = `room-${number}`;
});

describe('rooms', () => {
  it('are created with their limits, listed and deleted', async () => {
    const created = await rtc(
      `rooms create ${room} --max-participants 7 --empty-timeout 10m --metadata - --json`,
      {
        stdin: 'from stdin\n',
      },
    );
    expect(created.code).toBe(0);
    expect(JSON.parse(created.stdout)).toMatchObject({
      name: room,
      maxParticipants: 7,
      emptyTimeout: 600,
      departureTimeout: 600,
      metadata: 'from stdin\n',
    });
    const listed = await rtc('rooms list');
    const line = listed.stdout.split('\n').find((each) => each.startsWith(`${room}\t`));
    expect(line).toMatch(/^room-\d+\t0\tfalse\t\d{4}-\d\d-\d\dT[\d:.]+Z\tfalse$/);
    expect(await rtc(`rooms delete ${room} --yes`)).toEqual({
      code: 0,
      stdout: '',
      stderr: `Deleted ${room}.\n`,
    });
    expect((await rtc(`rooms get ${room}`)).code).toBe(3);
  });

  it('are kept closed until they are created again, or until an instant', async () => {
    const never = await rtc(`rooms close ${room} --reopen never --yes`);
    expect(never).toMatchObject({
      code: 0,
      stderr: `Deleted ${room}, which nobody can enter until rtc rooms create opens it.\n`,
    });
    const token = `tokens create --room ${room} --identity ada --role host`;
    const refused = await rtc(token);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`rtc rooms create ${room}`);
    const closed = async () => (await rtc('rooms closed --json name,closedUntil')).stdout;
    expect(JSON.parse(await closed()).closedRooms).toEqual([{ name: room, closedUntil: null }]);
    await rtc(`rooms delete ${room} --until 2h --yes`);
    expect(await closed()).toMatch(/"closedUntil":"\d{4}-/);
    await rtc(`rooms create ${room}`);
    expect(JSON.parse(await closed()).closedRooms).toEqual([]);
    expect((await rtc(token)).code).toBe(0);
    expect((await rtc(`rooms delete ${room} --reopen later --yes`)).code).toBe(2);
    expect((await rtc(`rooms delete ${room} --until soon --yes`)).code).toBe(2);
  });

  it('that exist are reported, with the settings that were not applied', async () => {
    await rtc(`rooms create ${room}`);
    const again = await rtc(`rooms create ${room} --max-participants 5`);
    expect(again.code).toBe(0);
    expect(again.stderr).toContain(`Room ${room} already existed.`);
    expect(again.stderr).toContain('did not apply maxParticipants');
  });

  it('get new metadata from a text, a file or stdin, or lose it', async () => {
    await rtc(`rooms create ${room} --metadata old`);
    const metadata = async () => (await rtc(`rooms get ${room} --json=metadata`)).stdout;
    const updated = await rtc(`rooms update ${room} --metadata new`);
    expect([updated.code, updated.stdout.includes('new')]).toEqual([0, true]);
    expect(await metadata()).toBe('{"metadata":"new"}\n');
    await rtc(`rooms update ${room} --metadata -`, { stdin: 'from stdin' });
    expect(await metadata()).toBe('{"metadata":"from stdin"}\n');
    expect((await rtc(`rooms update ${room} --metadata=`)).code).toBe(0);
    expect(await metadata()).toBe('{"metadata":""}\n');
    expect(await rtc(`rooms update ${room}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to change'),
    });
    expect((await rtc('rooms update absent --metadata x')).code).toBe(3);
  });

  it('are printed as JSON exactly as the API returned them', async () => {
    await rtc(`rooms create ${room}`);
    const { text } = await stack.service.call('GET', `/v1/rooms/${room}`);
    expect((await rtc(`rooms get ${room} --json`)).stdout).toBe(`${text}\n`);
    expect((await rtc(`rooms get --json ${room}`)).stdout).toBe(`${text}\n`);
  });

  it('are printed with selected fields in the shape of the whole response', async () => {
    await rtc(`rooms create ${room}`);
    const { rooms } = JSON.parse((await rtc('rooms ls --json name,numParticipants')).stdout);
    expect(rooms).toContainEqual({ name: room, numParticipants: 0 });
    expect((await rtc(`rooms get ${room} --json=name`)).stdout).toBe(`{"name":"${room}"}\n`);
  });

  it('have their known fields listed when one is unknown', async () => {
    const { code, stdout, stderr } = await rtc('rooms list --json name,size');
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toMatchObject({ detail: expect.stringContaining('"size"') });
    expect(JSON.parse(stderr)).toMatchObject({ next: expect.stringContaining('numParticipants') });
  });

  it('are deleted one after the other, and the first failure decides the exit code', async () => {
    await rtc(`rooms create ${room}`);
    const { code, stderr } = await rtc(`rooms delete absent ${room} --yes`);
    expect(code).toBe(3);
    expect(stderr).toContain('absent: ');
    expect(stderr).toContain(`Deleted ${room}.`);
    expect((await rtc(`rooms get ${room}`)).code).toBe(3);
  });

  it('are not deleted without --yes when nobody can be asked', async () => {
    await rtc(`rooms create ${room}`);
    const { code, stdout, stderr } = await rtc(`rooms rm ${room}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Next:  add --yes');
    expect((await rtc(`rooms get ${room}`)).code).toBe(0);
  });

  it('are not asked about with CI set, even on a terminal', async () => {
    const terminals = ['stdin', 'stdout', 'stderr'] as const;
    expect((await rtc('rooms delete x', { terminals, env: { CI: 'true' } })).code).toBe(2);
  });

  it('name every missing argument', async () => {
    expect((await rtc('rooms create')).stderr).toContain('missing NAME');
    expect((await rtc('tokens create')).stderr).toContain('missing --room, --identity, --role');
  });

  it.each(['0', '-1', '1.5', 'ten', '4294967296'])('refuse --max-participants=%s', async (value) => {
    const { code, stderr } = await rtc(`rooms create ${room} --max-participants=${value}`);
    expect(code).toBe(2);
    expect(stderr).toContain(`--max-participants "${value}"`);
  });

  it.each(['0s', '10x', '1.5s', ''])('refuse --empty-timeout=%s', async (value) => {
    const { code, stderr } = await rtc(`rooms create ${room} --empty-timeout=${value}`);
    expect(code).toBe(2);
    expect(stderr).toContain('--empty-timeout "');
  });

  it('are watched as JSON lines of changes until a signal', async () => {
    const stop = new AbortController();
    const watched = rtc('rooms list --watch', {
      signal: stop.signal,
      onStdout: (soFar) => {
        if (soFar.includes('"removed"')) stop.abort();
        else if (soFar.includes(`"name":"${room}"`)) void rtc(`rooms delete ${room} --yes`);
      },
    });
    await rtc(`rooms create ${room}`);
    const { code, stdout, stderr } = await watched;
    expect([code, stderr]).toEqual([0, '']);
    const changes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { change: string; record: { name: string } })
      .filter(({ record }) => record.name === room);
    expect(changes.map(({ change }) => change)).toEqual(['added', 'removed']);
  });
});

describe('participants', () => {
  beforeEach(async () => {
    await rtc(`rooms create ${room}`);
    await rtc(`dev join ${room} ada --role host --publish audio`);
  });

  it('are listed with role, tracks and time', async () => {
    const { stdout } = await rtc(`participants list ${room}`);
    expect(stdout).toMatch(/^ada\tada\thost\tACTIVE\tTR_[\w-]+\t\d{4}-.*Z\n$/);
  });

  it('are muted: their only track, one of several, or all', async () => {
    const muted = async (): Promise<readonly boolean[]> => {
      const { stdout } = await rtc(`participants list ${room} --json tracks`);
      return (JSON.parse(stdout).participants as { tracks: { muted: boolean }[] }[]).flatMap(({ tracks }) =>
        tracks.map((track) => track.muted),
      );
    };
    expect((await rtc(`participants mute ${room} ada`)).code).toBe(0);
    expect(await muted()).toEqual([true]);
    expect((await rtc(`participants mute ${room} ada`)).stderr).toContain('nothing that is not muted');
  });

  it('with several tracks are muted only by name or by --all', async () => {
    await rtc(`dev join ${room} bob --publish audio`);
    await rtc(`dev join ${room} bob --publish video`);
    const { stdout } = await rtc(`participants list ${room} --json identity,tracks`);
    const people = JSON.parse(stdout).participants as { identity: string; tracks: { sid: string }[] }[];
    const sids = people.find(({ identity }) => identity === 'bob')?.tracks.map(({ sid }) => sid) ?? [];
    if (sids.length > 1) {
      expect((await rtc(`participants mute ${room} bob`)).code).toBe(2);
      expect((await rtc(`participants mute ${room} bob --track ${sids[0]}`)).code).toBe(0);
    }
    expect((await rtc(`participants mute ${room} bob --all`)).code).toBe(0);
    expect((await rtc(`participants mute ${room} bob --all --track TR_x`)).code).toBe(2);
    expect((await rtc(`participants mute ${room} bob --track TR_x`)).code).toBe(3);
  });

  it('are removed', async () => {
    expect((await rtc(`participants remove ${room} ada`)).code).toBe(2);
    expect((await rtc(`participants rm ${room} ada --yes`)).stderr).toBe(`Removed ada from ${room}.\n`);
    const gone = await rtc(`participants remove ${room} ada --yes`);
    expect(gone.code).toBe(3);
    expect(gone.stderr).toContain(`Next:  list the participants: rtc participants list ${room}`);
    expect((await rtc(`participants list ${room}`)).stderr).toContain(`Nobody is in ${room}.`);
  });
});

describe('tokens', () => {
  it('are printed to stdout and nothing else', async () => {
    const { code, stdout, stderr } = await rtc(`tokens create --room ${room} --identity ada --role viewer`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const inspected = await run(['tokens', 'inspect', '-'], { stdin: stdout });
    expect(inspected.stdout).toContain(`ROOM\t${room}\nROLE\tviewer\nGRANTS\troomJoin,canSubscribe\n`);
    expect(inspected.code).toBe(0);
  });

  it('take a name from stdin and metadata from a file', async () => {
    const created = await run(
      [
        'tokens',
        'create',
        '--room',
        room,
        '--identity',
        'ada',
        '--role',
        'host',
        '--name',
        '-',
        '--metadata',
        '@metadata.json',
      ],
      { env: stack.environment, stdin: 'Ada L.\n', workingDirectory: `${import.meta.dirname}/../support` },
    );
    const { stdout } = await run(['tokens', 'inspect', '--json', 'name,metadata'], { stdin: created.stdout });
    expect(JSON.parse(stdout)).toEqual({ name: 'Ada L.', metadata: '{"team":"blue"}' });
  });

  it.each([
    ['[1]', '--metadata is JSON, but not an object'],
    ['null', '--metadata is JSON, but not an object'],
    ['"x"', '--metadata is JSON, but not an object'],
    ['{"a":', '--metadata is not well-formed JSON'],
    ['{bad', '--metadata is not well-formed JSON'],
  ])('refuse the metadata %s', async (value, message) => {
    const options = ['--room', room, '--identity', 'a', '--role', 'host', '--metadata', value];
    const { code, stderr } = await run(['tokens', 'create', ...options], { env: stack.environment });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(value);
  });

  it('count as expired from the second of their exp on', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'HS256' })}.${part({ exp: 1000, sub: 'ada' })}.c2ln`;
    const at = (ms: number): Promise<Run> => run(['tokens', 'inspect', token], { clock: () => ms });
    expect((await at(999_999)).code).toBe(0);
    expect((await at(1_000_000)).code).toBe(7);
  });

  it.each([8.64e12 + 1, -8.64e12 - 1, 1e300])(
    'are shown even with an exp beyond any date, %d',
    async (exp) => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const token = `${part({ alg: 'HS256' })}.${part({ exp, sub: 'ada' })}.c2ln`;
      const { code, stdout, stderr } = await run(['tokens', 'inspect', token]);
      expect([code, stderr]).toEqual([exp < 0 ? 7 : 0, '']);
      expect(stdout).toContain('IDENTITY\tada\n');
    },
  );

  it.each(['', 'a.b', 'a.b.c', '..'])('refuse to inspect "%s"', async (token) => {
    expect((await run(['tokens', 'inspect'], { stdin: token })).code).toBe(2);
  });
});

describe('recordings', () => {
  it('are started once, shown, waited for and stopped', async () => {
    await rtc(`rooms create ${room}`);
    await rtc(`dev join ${room} ada --publish audio`);
    expect((await rtc(`recordings status ${room}`)).stdout).toBe(
      'RECORDING\tfalse\nEGRESS-ID\t\nSTARTED\t\nMEDIA-STARTED\t\n',
    );
    const started = JSON.parse((await rtc(`recordings start ${room} --wait --json`)).stdout) as object;
    expect(started).toMatchObject({ roomId: room, status: 'recording' });
    const waited = JSON.parse((await rtc(`recordings status ${room} --json`)).stdout) as object;
    expect(waited).toMatchObject({ isRecording: true, mediaStartedAt: expect.any(String) });
    const again = await rtc(`recordings start ${room} --json status`);
    expect(again).toMatchObject({ code: 0, stdout: '{"status":"already_recording"}\n' });
    expect((await rtc(`recordings status ${room} --json isRecording`)).stdout).toBe('{"isRecording":true}\n');
    expect((await rtc(`recordings stop ${room} --wait`)).code).toBe(0);
    const none = await rtc(`recordings stop ${room}`);
    expect(none.code).toBe(3);
    expect(none.stderr).toContain(`Next:  start one: rtc recordings start ${room}`);
  });
});

describe('ingress', () => {
  it('is created with its key, listed without it, and deleted', async () => {
    const created = JSON.parse(
      (await rtc(`ingress create ${room} --type whip --name Cam --json`)).stdout,
    ) as {
      ingressId: string;
      streamKey: string;
    };
    expect(created).toMatchObject({ inputType: 'WHIP_INPUT', participantName: 'Cam', roomName: room });
    const { stdout } = await rtc(`ingress list ${room}`);
    expect(stdout).toContain(created.ingressId);
    expect(stdout).not.toContain(created.streamKey);
    expect((await rtc(`ingress delete ${room} ${created.ingressId}`)).code).toBe(2);
    expect((await rtc(`ingress delete ${room} ${created.ingressId} --yes`)).code).toBe(0);
    expect((await rtc(`ingress delete ${room} ${created.ingressId} --yes`)).code).toBe(3);
  });

  it('names the known types', async () => {
    const { code, stderr } = await rtc(`ingress create ${room} --type rtp`);
    expect(code).toBe(2);
    expect(stderr).toContain('"rtp" is not one of rtmp, whip');
  });
});

describe('api', () => {
  it('prints the body as returned', async () => {
    const { text } = await stack.service.call('GET', '/v1/keys/self');
    expect((await rtc('api get /v1/keys/self')).stdout).toBe(`${text}\n`);
  });

  it('sends a body from stdin, byte for byte', async () => {
    const { code } = await rtc('api POST /v1/rooms --data -', { stdin: `{ "name" : "${room}" }\n` });
    expect(code).toBe(0);
    expect((await rtc(`rooms get ${room}`)).code).toBe(0);
  });

  it('prints text that is no JSON', async () => {
    const { code, stdout } = await rtc('api GET /metrics');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# HELP /);
  });

  it('selects fields of the response, and names those that it has', async () => {
    await rtc(`rooms create ${room}`);
    const one = await rtc(`api GET /v1/rooms/${room} --json name,emptyTimeout`);
    expect(JSON.parse(one.stdout)).toEqual({ name: room, emptyTimeout: expect.any(Number) });
    const many = await rtc('api GET /it/regions --json name');
    expect(JSON.parse(many.stdout)[0]).toEqual({ name: expect.any(String) });
    const unknown = await rtc('api GET /v1/rooms --json name');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(JSON.parse(unknown.stderr)).toMatchObject({ next: 'known fields: rooms' });
    const none = await rtc('api GET /metrics --json name');
    expect([none.code, none.stdout]).toEqual([2, '']);
    expect(JSON.parse(none.stderr).next).toContain('no fields');
  });

  it('shows status and headers on request', async () => {
    expect((await rtc('api GET /v1/rooms -i')).stdout).toMatch(/^HTTP\/1\.1 200 OK\n(?:[\w-]+: .*\n)+\n\{/);
  });

  it.each(['/a b', '/è', '/a#b', '/a\u0000'])('refuses the path %j', async (path) => {
    expect((await run(['api', 'GET', path], { env: stack.environment })).code).toBe(2);
  });

  it('names every bad field of a request', async () => {
    const { code, stderr } = await run(['api', 'POST', '/v1/rooms', '-d', '{"nam":"x"}'], {
      env: stack.environment,
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/name .*; nam .*\(request [\w-]+\)/);
  });
});

describe('--curl', () => {
  it('prints a command that curl can run, without the secret', async () => {
    const name = `it's ${room} $(x)`;
    const { code, stdout } = await run(['rooms', 'create', name, '--curl'], { env: stack.environment });
    expect(code).toBe(0);
    expect(stdout).not.toContain(stack.service.apiSecret);
    const pasted = await promisify(execFile)('sh', ['-c', stdout]);
    expect(JSON.parse(pasted.stdout)).toMatchObject({ name });
    expect(pasted.stderr).toBe('');
  });

  it('prints a HEAD that curl ends', async () => {
    const { stdout } = await rtc('api HEAD /v1/health --curl');
    const pasted = await promisify(execFile)('sh', ['-c', stdout], { timeout: 60_000 });
    expect(pasted.stdout).toMatch(/^HTTP\/1\.1 \d+ /);
  });

  it('sends the requests that the command depends on, and prints only the last one', async () => {
    await rtc(`rooms create ${room}`);
    for (const words of [`dev join ${room} ada --publish audio`, `dev join ${room} bob`]) await rtc(words);
    const track = async (): Promise<{ readonly sid: string; readonly muted: boolean } | undefined> => {
      const { stdout } = await rtc(`participants list ${room} --json identity,tracks`);
      return JSON.parse(stdout).participants.find((each: { identity: string }) => each.identity === 'ada')
        .tracks[0];
    };
    const { code, stdout, stderr } = await rtc(`participants mute ${room} ada --all --curl`, {
      terminals: ['stderr'],
    });
    expect(code).toBe(0);
    expect(stdout.match(/^curl .* \S+\/participants\/ada\/mute$/gm)).toHaveLength(1);
    expect(stdout).toContain((await track())?.sid);
    expect(stderr).toContain(`Sent first, to find what to act on: GET /v1/rooms/${room}/participants`);
    expect(await track()).toMatchObject({ muted: false });
    await promisify(execFile)('sh', ['-c', stdout]);
    expect(await track()).toMatchObject({ muted: true });
  });

  it('prints for a simulated participant the request to the embedded media server', async () => {
    await rtc(`rooms create ${room}`);
    const { code, stdout, stderr } = await rtc(`dev join ${room} ada --publish audio --curl`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^curl .*\/embedded\/(?:join|publish)$/gm)).toHaveLength(2);
    expect((await rtc(`participants list ${room}`)).stdout).toBe('');
    await promisify(execFile)('sh', ['-c', stdout]);
    expect((await rtc(`participants list ${room}`)).stdout).toMatch(/^ada\t.*TR_/);
  });

  it('prints every request of doctor in order, each under its explanation', async () => {
    const { code, stdout } = await rtc('doctor --curl');
    expect(code).toBe(0);
    const [comments, requests] = [stdout.match(/^# .*$/gm), stdout.match(/^curl .*$/gm)];
    expect(comments?.length).toBeGreaterThan(3);
    expect(requests).toHaveLength(comments?.length ?? 0);
    const pasted = await promisify(execFile)('sh', ['-c', stdout]);
    expect(pasted.stderr).toBe('');
    expect(pasted.stdout).toContain('"status":"ok"');
    expect(pasted.stdout).toContain('"rooms":');
  });

  it('sends nothing, and asks nothing', async () => {
    await rtc(`rooms create ${room}`);
    const { code, stdout } = await rtc(`rooms delete ${room} other --curl`);
    expect(code).toBe(0);
    expect(stdout.match(/^curl /gm)).toHaveLength(2);
    expect((await rtc(`rooms get ${room}`)).code).toBe(0);
  });
});

describe('--debug', () => {
  it('shows requests and responses with key, signature and token masked', async () => {
    const { stdout, stderr } = await rtc(`tokens create --room ${room} --identity ada --role host --debug`);
    expect(stderr).toContain('> POST http://');
    expect(stderr).toContain('x-request-id: ');
    expect(stderr).toContain('"token":"***"');
    for (const secret of [stack.service.apiKey, stack.service.apiSecret, stdout.trim()]) {
      expect(stderr).not.toContain(secret);
    }
    expect(stderr).not.toMatch(/x-service-signature: [0-9a-f]{8}/);
  });
});

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SessionList } from '../../../src/contract/sessions.ts';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const WAITING = { timeout: 60_000, interval: 20 };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  for (const identity of ['ada', 'bob', '=HYPERLINK("https://evil.example")'])
    stack.media.control.join('demo', { identity, name: `Name of ${identity}` });
  stack.media.control.leave('demo', 'bob');
  await vi.waitUntil(
    makeSession('demo', ({ totalParticipants }) => totalParticipants === 3),
    WAITING,
  );
  await stack.service.call('DELETE', '/v1/rooms/demo');
  await vi.waitUntil(
    makeSession('demo', ({ status }) => status === 'ended'),
    WAITING,
  );
});
afterAll(() => stack.close());

const rtc = (line: string, options: Parameters<typeof run>[1] = {}): Promise<Run> =>
  run(line.split(' '), { ...options, env: { ...stack.environment, ...options.env } });

type ListedSession = SessionList['sessions'][number];

async function listed(room: string): Promise<ListedSession | undefined> {
  const { json } = await stack.service.call('GET', `/v1/sessions?roomId=${room}`);
  return (json as SessionList).sessions[0];
}
const readId = async (room: string) => (await listed(room))?.sessionId ?? '';
const makeSession = (room: string, isAsWanted: (session: ListedSession) => boolean) => async () => {
  const session = await listed(room);
  return session !== undefined && isAsWanted(session);
};

describe('sessions', () => {
  it('are listed with their figures, as the API has them with --json', async () => {
    const line = (await rtc('sessions list --room demo')).stdout;
    expect(line).toMatch(/^RM_\w+\tdemo\tended\t\d{4}-\S+Z\t[\d.]+\t3\t\d\t[\d.]+\n$/);
    const { text } = await stack.service.call('GET', '/v1/sessions');
    expect(JSON.parse((await rtc('sessions ls --json')).stdout)).toEqual(JSON.parse(text));
    expect((await rtc('sessions list --status open')).stderr).toBe('No sessions.\n');
    expect((await rtc('sessions list --until 1h')).stderr).toBe('No sessions.\n');
  });

  it('fit a terminal of 80 columns', async () => {
    const { stdout } = await rtc('sessions list', {
      terminals: ['stdout'],
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/^SESSION-ID +ROOM +STATUS +OPENED +DURATION +PEOPLE\n/);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('are shown one by one, with their participants', async () => {
    const id = await readId('demo');
    const { stdout } = await rtc(`sessions get ${id}`);
    expect(stdout).toMatch(/^SESSION-ID\tRM_/);
    expect(stdout).toContain('\nWHO\tada, bob, =HYPERLINK("https://evil.example")\n');
    const people = (await rtc(`sessions participants ${id}`)).stdout.split('\n');
    expect(people.slice(0, -1).map((line) => line.split('\t')[0])).toEqual([
      'ada',
      'bob',
      '=HYPERLINK("https://evil.example")',
    ]);
    const missing = await rtc('sessions get RM_none');
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('rtc sessions list')]);
  });

  it('are CSV for a spreadsheet, in which no name is a formula', async () => {
    const id = await readId('demo');
    const sessions = (await rtc('sessions list --csv')).stdout.split('\n');
    expect(sessions[0]).toBe(
      'session_id,room,status,opened,started,ended,duration_seconds,people,peak,participant_minutes,metadata',
    );
    expect(sessions[1]).toMatch(new RegExp(`^${id},demo,ended,\\S+Z,\\S+Z,\\S+Z,[\\d.]+,3,\\d,[\\d.]+,$`));
    const people = (await rtc(`sessions participants ${id} --csv`)).stdout;
    expect(people.split('\n')[0]).toBe('session_id,room,identity,name,role,joined,left,duration_seconds,sid');
    expect(people).toContain(
      `${id},demo,"'=HYPERLINK(""https://evil.example"")","Name of =HYPERLINK(""https://evil.example"")",`,
    );
    expect((await rtc('sessions list --room none --csv')).stdout).toBe(`${sessions[0]}\n`);
  });

  it('are not printed as CSV and JSON at once', async () => {
    const { code, stderr } = await rtc('sessions list --csv --json');
    expect([code, JSON.parse(stderr).detail]).toEqual([2, expect.stringContaining('--csv and --json')]);
  });

  it('are found by the name of a room, which finds its last one', async () => {
    for (const identity of ['ada', 'bob']) stack.media.control.join('twice', { identity, name: identity });
    const isOpen = makeSession('twice', ({ totalParticipants }) => totalParticipants === 2);
    await vi.waitUntil(isOpen, WAITING);
    const first = await rtc('sessions get twice --json sessionId');
    expect([first.stderr, JSON.parse(first.stdout)]).toEqual(['', { sessionId: await readId('twice') }]);
    await stack.service.call('DELETE', '/v1/rooms/twice');
    stack.media.control.join('twice', { identity: 'eve', name: 'eve' });
    const isAgain = makeSession('twice', ({ totalParticipants }) => totalParticipants === 1);
    await vi.waitUntil(isAgain, WAITING);
    const last = await readId('twice');
    expect(last).not.toBe(JSON.parse(first.stdout).sessionId);
    const second = await rtc('sessions get twice --json sessionId');
    expect(JSON.parse(second.stdout)).toEqual({ sessionId: last });
    const note = JSON.parse(second.stderr).status;
    expect(note).toMatch(
      new RegExp(`^twice had several sessions. This is the last one, ${last}, opened \\S+Z`),
    );
    expect((await rtc('sessions participants twice')).stdout).toMatch(/^eve\t[^\n]*\n$/);
    const none = await rtc('sessions get nowhere');
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('nowhere')]);
  });
});

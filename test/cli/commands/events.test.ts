import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Event, EventList } from '../../../src/contract/events.ts';
import { startReceiver } from '../../server/webhooks/support/receiver.ts';
import { type EventStack, jsonLines, startEventStack } from '../support/event-stack.ts';
import { startRtc } from '../support/process.ts';

let stack: EventStack;
beforeAll(async () => {
  stack = await startEventStack();
});
afterAll(() => stack.close());

let number = 0;
let room: string;
beforeEach(() => {
  number += 1;
  room = `room-${number}`;
});

async function listed(words: string): Promise<EventList> {
  const { code, stdout, stderr } = await stack.rtc(`events list ${words} --json`);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as EventList;
}

const names = ({ events }: EventList): readonly string[] => events.map(({ event }) => event);

describe('events list', () => {
  it('shows the newest events first, and all of them from a time on the oldest first', async () => {
    await stack.join(room, 'ada');
    const newest = ['participant_joined', 'room_started', 'room_created'];
    expect(names(await listed(`--room ${room}`))).toEqual(newest);
    expect(names(await listed(`--room ${room} --limit 1`))).toEqual(['participant_joined']);
    const { stdout } = await stack.rtc(`events list --room ${room} --since 1h`);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows.map(([, ...row]) => row)).toEqual([
      ['room_created', room, '', '0', expect.stringMatching(/^evt_/)],
      ['room_started', room, '', expect.any(String), expect.stringMatching(/^evt_/)],
      ['participant_joined', room, 'ada', '1', expect.stringMatching(/^evt_/)],
    ]);
    for (const [time] of rows) expect(time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('takes names of both tables, under --types and under --events', async () => {
    await stack.join(room, 'ada');
    await stack.rtc(`rooms delete ${room} --yes`);
    await stack.media.control.webhooksSettled();
    const filter = `--room ${room}`;
    expect(names(await listed(`${filter} --types room_closed`))).toEqual(['room_finished']);
    expect(names(await listed(`${filter} --events room_started,room_finished`))).toEqual([
      'room_finished',
      'room_started',
    ]);
  });

  it('continues from a cursor', async () => {
    await stack.join(room, 'ada');
    const first = await listed(`--room ${room} --since 1h --limit 2`);
    expect(names(first)).toEqual(['room_created', 'room_started']);
    const rest = await listed(`--room ${room} --cursor ${first.nextCursor}`);
    expect(names(rest)).toEqual(['participant_joined']);
    expect(names(await listed(`--room ${room} --cursor ${rest.nextCursor}`))).toEqual([]);
    const newest = await listed(`--room ${room} --limit 2`);
    const earlier = await listed(`--room ${room} --cursor ${newest.nextCursor}`);
    expect(names(earlier)).toEqual(['room_created']);
  });

  it('says how to continue only when there may be more', async () => {
    await stack.join(room, 'ada');
    const { nextCursor } = await listed(`--room ${room} --limit 2`);
    const full = await stack.rtc(`events list --room ${room} --limit 2`);
    expect(full.stderr).toBe(`There may be more: --limit N, or --cursor ${nextCursor}\n`);
    expect((await stack.rtc(`events list --room ${room} --limit 4`)).stderr).toBe('');
  });

  it.each([120, 100, 96])(
    'shows whole ids on a terminal of %i columns, and nothing wider',
    async (columns) => {
      const long = `${room}-with-a-name-that-is-long-and-wide`;
      await stack.join(long, 'somebody-whose-identity-is-long-too');
      const { events } = await listed(`--room ${long}`);
      const { stdout } = await stack.rtc(`events list --room ${long}`, {
        terminals: ['stdout'],
        columns,
        env: { NO_COLOR: '1' },
      });
      for (const { id } of events) expect(stdout).toContain(id);
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
    },
  );

  it('leaves the ids out on a terminal of 80 columns, so that the names of events are whole', async () => {
    await stack.join(room, 'ada');
    const { stdout } = await stack.rtc(`events list --room ${room}`, {
      terminals: ['stdout'],
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/^.* {2}participant_joined {2}.* {2}ada$/m);
    expect(stdout).not.toContain('evt_');
    expect(stdout).not.toContain('…');
  });

  it('looks back as far as events are stored', async () => {
    await stack.join(room, 'ada');
    const later = { clock: () => Date.now() + 200_000 };
    const none = await stack.rtc(`events list --room ${room} --since 100s --json id`, later);
    expect(JSON.parse(none.stdout).events).toEqual([]);
    expect((await stack.rtc(`events list --room ${room}`, later)).stdout).not.toBe('');
    const { stderr } = await stack.rtc(`events list --room ${room}-absent`);
    expect(stderr).toContain('No such event.');
  });

  it('names the known fields when one is unknown', async () => {
    const { code, stderr } = await stack.rtc('events list --json event,nme');
    expect(code).toBe(2);
    expect(stderr).toContain('known fields: event, room, timestamp');
  });

  it.each([
    '--since 1x',
    '--since 2026-13-01',
    '--since 2026-02-30',
    '--since 2025-02-29T09:30:00Z',
    '--limit 0',
    '--limit 100001',
    '--types nope',
    '--cursor nope',
  ])('refuses %s', async (words) => {
    expect((await stack.rtc(`events list ${words}`)).code).toBe(2);
  });

  it.each(['2026-01-31', '2026-01-31T09:30:00Z', '2026-01-31T09:30:00.5+01:00', '90', '1h30m', '99999999d'])(
    'accepts --since %s',
    async (since) => {
      expect((await stack.rtc(`events list --since ${since}`)).code).toBe(0);
    },
  );
});

describe('events tail', () => {
  it('prints each event as the API returns it, one per line, until the signal', async () => {
    await stack.join(room, 'ada');
    const stop = new AbortController();
    const tailed = stack.rtc(`events tail --room ${room} --since 5m`, {
      signal: stop.signal,
      onStdout: (soFar) => {
        const seen = jsonLines<Event>(soFar).map(({ event }) => event);
        if (seen.length === 3) void stack.leave(room, 'ada');
        if (seen.includes('participant_left')) stop.abort();
      },
    });
    const { code, stdout, stderr } = await tailed;
    expect([code, stderr]).toEqual([0, '']);
    const { events } = await listed(`--room ${room} --since 1h`);
    expect(jsonLines<Event>(stdout)).toEqual(events);
  });

  it('loses nothing while the service restarts', async () => {
    await stack.join(room, 'ada');
    const stop = new AbortController();
    let restarted: Promise<void> | undefined;
    const restart = async (): Promise<void> => {
      await stack.stopService();
      await stack.startService();
      await stack.join(room, 'bob');
    };
    const { code, stdout } = await stack.rtc(
      `events tail --room ${room} --types participant_joined --since 5m`,
      {
        signal: stop.signal,
        onStdout: (soFar) => {
          if (soFar.includes('"bob"')) stop.abort();
          else restarted ??= restart();
        },
      },
    );
    await restarted;
    expect(code).toBe(0);
    expect(jsonLines<Event>(stdout).map(({ participant }) => participant?.identity)).toEqual(['ada', 'bob']);
  });

  it('prints selected fields', async () => {
    await stack.join(room, 'ada');
    const stop = new AbortController();
    const { stdout } = await stack.rtc(
      `events tail --room ${room} --since 5m --types room_started --json event,sequence`,
      {
        signal: stop.signal,
        onStdout: () => stop.abort(),
      },
    );
    expect(stdout).toBe('{"event":"room_started","sequence":2}\n');
    expect((await stack.rtc('events tail --json nme')).code).toBe(2);
  });

  it('shows one line per event on a terminal', async () => {
    await stack.join(room, 'ada\u001b[2J');
    const lineOn = async (columns: number): Promise<string> => {
      const stop = new AbortController();
      const { stdout } = await stack.rtc(`events tail --room ${room} --since 5m --types participant_joined`, {
        ...{ terminals: ['stdout'], columns, env: { NO_COLOR: '1' }, signal: stop.signal },
        onStdout: () => stop.abort(),
      });
      return stdout;
    };
    const line = await lineOn(120);
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}participant_joined {2}room-\d+ {2}ada\\u001b\[2J {2}evt_\S+\n$/);
    const columns = line.length - 1;
    expect(await lineOn(columns)).toContain('evt_');
    expect(await lineOn(columns - 1)).not.toContain('evt_');
  });

  it('ends after the event of --until, under either of its names, also with other requested types', async () => {
    await stack.join(room, 'ada');
    const tailed = stack.rtc(
      `events tail --room ${room} --since 5m --types participant_left --until room_closed --json event`,
    );
    await stack.leave(room, 'ada');
    await stack.rtc(`rooms delete ${room} --yes`);
    const { code, stdout } = await tailed;
    expect(code).toBe(0);
    expect(jsonLines<Event>(stdout).map(({ event }) => event)).toEqual(['participant_left', 'room_closed']);
  });

  it('ends after the number of events in --max', async () => {
    await stack.join(room, 'ada');
    const { code, stdout } = await stack.rtc(`events tail --room ${room} --since 5m --max 2`);
    expect([code, jsonLines<Event>(stdout).map(({ event }) => event)]).toEqual([
      0,
      ['room_created', 'room_started'],
    ]);
  });

  it('exits with 8 at its time limit before the end, and with 0 without another condition', async () => {
    await stack.join(room, 'ada');
    const late = await stack.rtc(`events tail --room ${room} --until room_finished --timeout 1s`);
    expect([late.code, late.stdout]).toEqual([8, '']);
    expect(late.stderr).toContain('still waiting for room_finished after 1s');
    expect((await stack.rtc(`events tail --room ${room} --max 9 --since 5m --timeout 1s`)).code).toBe(8);
    const one = await stack.rtc('events tail --room nowhere --max 1 --timeout 1s');
    expect(one.stderr).toContain('still waiting for 1 event (0 so far) after 1s');
    const timed = await stack.rtc(`events tail --room ${room} --since 5m --timeout 1s`);
    expect([timed.code, jsonLines(timed.stdout)]).toEqual([0, Array(3).fill(expect.anything())]);
  });

  it('exits with 130 when it is stopped before the event of --until', async () => {
    await stack.join(room, 'ada');
    const stop = new AbortController();
    const { code } = await stack.rtc(`events tail --room ${room} --since 5m --until room_finished`, {
      signal: stop.signal,
      onStdout: () => stop.abort(),
    });
    expect(code).toBe(130);
  });

  it('has forwarded the event of --until when it ends', async () => {
    await stack.join(room, 'ada');
    const receiver = await startReceiver();
    const { code } = await stack.rtc(
      `events tail --room ${room} --since 5m --until participant_joined --forward-to ${receiver.url}`,
    );
    expect([code, receiver.received.map(({ body }) => body.event)]).toEqual([
      0,
      ['room_created', 'room_started', 'participant_joined'],
    ]);
    await receiver.close();
  });

  it.each(['*', 'room_created,room_started', 'nope'])('refuses --until %s', async (name) => {
    expect((await stack.rtc(`events tail --until ${name}`)).code).toBe(2);
  });

  it('does not wait silently at a cursor of another store', async () => {
    const cursor = Buffer.from('["events",999999999]').toString('base64url');
    const { code, stderr } = await stack.rtc(`events tail --cursor ${cursor}`);
    expect(code).toBe(2);
    expect(stderr).toContain('cursor is beyond the last event');
  });

  it('exits with 0 as a process when its reader closes the pipe', async () => {
    await stack.join(room, 'ada');
    const started = startRtc(['events', 'tail', '--room', room, '--since', '5m'], { env: stack.environment });
    await started.seen(/participant_joined/);
    started.child.stdout.destroy();
    await stack.leave(room, 'ada');
    expect(await started.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});

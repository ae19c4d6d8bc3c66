import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Egress, EgressStream } from '../../../src/server/platform/livekit/media-server.ts';
import {
  findFailed,
  readOutputs,
  type Stream,
  writeOutputs,
} from '../../../src/server/recordings/broadcast-outputs.ts';
import {
  correctsEnd,
  hasClaimRunOut,
  isActive,
  nextState,
  type Observation,
  type Transition,
} from '../../../src/server/recordings/lifecycle.ts';
import type { Recording } from '../../../src/server/recordings/store.ts';

/*
 * Every state of a recording with every observation. A cell is the new status, `deleted`, `facts` (the status stays and
 * facts are added) or `-` (nothing changes). A `!` follows if an end has to be published.
 */

const CREATED_AT = 1_000_000;
const AT = CREATED_AT + 100_000;
/** Long enough ago that the media server's own event would have arrived. */
const LONG_AGO = AT - 20_000;
/** So recent that the media server's own event may still arrive. */
const JUST_NOW = AT - 19_999;

const STARTING: Recording = {
  id: 'rec_1',
  room: 'demo',
  roomSid: null,
  egressId: null,
  status: 'starting',
  filepath: 'demo.mp4',
  bucket: null,
  claimOwner: 'me',
  claimUntil: CREATED_AT + 60_000,
  createdAt: CREATED_AT,
  startedAt: null,
  mediaStartedAt: null,
  stoppedAt: null,
  endedAt: null,
  sizeBytes: null,
  durationMs: null,
  error: null,
  recordTracks: 0,
  kind: 'recording',
  outputs: null,
};
const RECORDING: Recording = {
  ...STARTING,
  egressId: 'EG_1',
  status: 'recording',
  claimOwner: null,
  claimUntil: null,
  startedAt: CREATED_AT + 500,
};
const PENDING: Recording = { ...RECORDING, status: 'stopped', stoppedAt: CREATED_AT + 10_000 };
const FILE = { sizeBytes: 77, durationMs: 9_000 };

const STATES = {
  starting: STARTING,
  'unwanted start': { ...STARTING, stoppedAt: AT - 1 },
  "another's start": { ...STARTING, claimOwner: 'another' },
  recording: RECORDING,
  pending: PENDING,
  stopped: { ...PENDING, endedAt: LONG_AGO, ...FILE },
  aborted: { ...PENDING, status: 'aborted', endedAt: LONG_AGO, error: 'Stop called' },
  failed: { ...PENDING, status: 'failed', endedAt: LONG_AGO, error: 'no disk' },
  'never started': { ...STARTING, status: 'failed', claimOwner: null, claimUntil: null, stoppedAt: AT - 1 },
} as const satisfies Record<string, Recording>;

const makeEgress = (status: Egress['status'], facts: Partial<Egress> = {}): Egress => ({
  egressId: 'EG_1',
  room: 'demo',
  status,
  startedAt: CREATED_AT + 400,
  endedAt: undefined,
  mediaStartedAt: undefined,
  error: undefined,
  startId: undefined,
  streams: [],
  file: undefined,
  ...facts,
});
const egress = (status: Egress['status'], facts: Partial<Egress> = {}): Observation => ({
  type: 'egress',
  at: AT,
  egress: makeEgress(status, facts),
});
const WRITTEN = { filename: 'demo.mp4', location: '/demo.mp4', ...FILE };
const gone = (file?: { readonly sizeBytes: number; readonly modifiedAt: number }): Observation => ({
  type: 'recorder-gone',
  reason: 'the recorder was lost',
  file,
  at: AT,
});

const OBSERVATIONS = {
  'egress-created': { type: 'egress-created', egressId: 'EG_1', at: AT },
  'start-unwanted': { type: 'start-unwanted', owner: 'me', at: AT },
  'start-refused': { type: 'start-refused', owner: 'me' },
  'start-given-up': { type: 'start-given-up', owner: 'me', error: 'too late', at: AT },
  'room deleted': { type: 'room-deleted', at: AT },
  'late-start-over': { type: 'late-start-over' },
  'stop-accepted': { type: 'stop-accepted', at: AT },
  'egress starting': egress('EGRESS_STARTING'),
  'egress active': egress('EGRESS_ACTIVE'),
  'egress active, media started': egress('EGRESS_ACTIVE', { mediaStartedAt: CREATED_AT + 3_500 }),
  'egress ending': egress('EGRESS_ENDING'),
  'egress complete': egress('EGRESS_COMPLETE', { endedAt: LONG_AGO, file: WRITTEN }),
  'egress complete just now': egress('EGRESS_COMPLETE', { endedAt: JUST_NOW, file: WRITTEN }),
  'egress at its limit': egress('EGRESS_LIMIT_REACHED', { endedAt: LONG_AGO, file: WRITTEN }),
  'egress aborted': egress('EGRESS_ABORTED', { endedAt: LONG_AGO, error: 'Stop called' }),
  'egress failed': egress('EGRESS_FAILED', { endedAt: LONG_AGO, error: 'no disk' }),
  'recorder gone': gone(),
  'recorder gone, file found': gone({ sizeBytes: 77, modifiedAt: AT - 5_000 }),
} as const satisfies Record<string, Observation>;

type State = keyof typeof STATES;
const STATE_NAMES: readonly State[] = [
  'starting',
  'unwanted start',
  "another's start",
  'recording',
  'pending',
  'stopped',
  'aborted',
  'failed',
  'never started',
];

/** The columns have the order of STATE_NAMES. */
// biome-ignore format: a table.
const TABLE: Readonly<Record<keyof typeof OBSERVATIONS, readonly string[]>> = {
  'egress-created':              ['recording',  '-',          'recording',  '-',          '-',          '-',          '-',          '-',          '-'],
  'start-unwanted':              ['facts',      '-',          '-',          '-',          '-',          '-',          '-',          '-',          '-'],
  'start-refused':               ['deleted',    'deleted',    '-',          '-',          '-',          '-',          '-',          '-',          '-'],
  'start-given-up':              ['failed',     'failed',     '-',          '-',          '-',          '-',          '-',          '-',          '-'],
  'room deleted':                ['failed',     'failed',     'failed',     '-',          '-',          '-',          '-',          '-',          '-'],
  'late-start-over':             ['-',          '-',          '-',          '-',          '-',          '-',          '-',          '-',          'facts'],
  'stop-accepted':               ['-',          '-',          '-',          'stopped',    '-',          '-',          '-',          '-',          '-'],
  'egress starting':             ['-',          '-',          '-',          '-',          '-',          '-',          '-',          '-',          '-'],
  'egress active':               ['-',          '-',          '-',          '-',          '-',          '-',          '-',          '-',          '-'],
  'egress active, media started':['-',          '-',          '-',          'facts',      'facts',      'facts',      'facts',      'facts',      '-'],
  'egress ending':               ['-',          '-',          '-',          'stopped',    '-',          '-',          '-',          '-',          '-'],
  'egress complete':             ['-',          '-',          '-',          'stopped!',   'facts!',     '-',          'stopped!',   'stopped!',   '-'],
  'egress complete just now':    ['-',          '-',          '-',          'stopped',    'facts',      'facts',      'stopped',    'stopped!',   '-'],
  'egress at its limit':         ['-',          '-',          '-',          'stopped!',   'facts!',     '-',          'stopped!',   'stopped!',   '-'],
  'egress aborted':              ['-',          '-',          '-',          'aborted!',   'aborted!',   'aborted!',   '-',          'aborted!',   '-'],
  'egress failed':               ['-',          '-',          '-',          'failed!',    'failed!',    'failed!',    'failed!',    '-',          '-'],
  'recorder gone':               ['-',          '-',          '-',          'failed!',    'failed!',    '-',          '-',          '-',          '-'],
  'recorder gone, file found':   ['-',          '-',          '-',          'stopped!',   'facts!',     '-',          '-',          '-',          '-'],
};

function readCell({ change, event }: Transition, before: Recording): string {
  const mark = event === undefined ? '' : '!';
  if (change === undefined) return `-${mark}`;
  if (change === 'delete') return `deleted${mark}`;
  const isMoved = change.status !== undefined && change.status !== before.status;
  return `${isMoved ? change.status : 'facts'}${mark}`;
}

describe.each(Object.entries(TABLE))('the observation of a recording: %s', (name, cells) => {
  const [, observation] = Object.entries(OBSERVATIONS).find(([each]) => each === name) ?? [];
  it.each(STATE_NAMES.map((state, column) => [state, cells[column]] as const))(
    'turns %s into %s',
    (state, cell) => {
      if (observation === undefined) throw new Error(`there is no observation ${name}`);
      expect(readCell(nextState(STATES[state], observation), STATES[state])).toBe(cell);
    },
  );
});

/** With HLS and without URLs, which have states of their own. */
const HLS_ONLY = writeOutputs({
  hls: { segmentSeconds: 4, playlist: 'index.m3u8', livePlaylist: 'live.m3u8' },
  streams: [],
});

describe.each(Object.entries(OBSERVATIONS))('the observation of a broadcast: %s', (_, observation) => {
  it.each(STATE_NAMES)('means for the state %s what it means for a recording', (state) => {
    const broadcast = { ...STATES[state], kind: 'broadcast', outputs: HLS_ONLY } as const;
    expect(nextState(broadcast, observation)).toEqual(nextState(STATES[state], observation));
  });
});

describe('a broadcast without HLS', () => {
  const ended = {
    ...PENDING,
    kind: 'broadcast',
    filepath: '',
    outputs: writeOutputs({ hls: null, streams: [] }),
  } as const;

  it('has ended well if its recorder is gone after a stop, because it has no file that could be missing', () => {
    expect(nextState(ended, gone())).toEqual({
      change: { endedAt: PENDING.stoppedAt },
      event: { status: 'stopped', error: undefined, file: undefined },
    });
  });

  it('has failed if its recorder is gone while it runs', () => {
    const { event } = nextState({ ...ended, ...RECORDING, kind: 'broadcast', filepath: '' }, gone());
    expect(event).toEqual({ status: 'failed', error: 'the recorder was lost', file: undefined });
  });

  it('that failed stays so if its recorder reports a good end later, while one with HLS may be whole', () => {
    const failed = { ...ended, status: 'failed', endedAt: AT } as const;
    const complete = makeEgress('EGRESS_COMPLETE');
    expect(correctsEnd(failed, complete)).toBe(false);
    expect(correctsEnd({ ...failed, filepath: 'demo.hls/index.m3u8' }, complete)).toBe(true);
  });
});

it('a room that was deleted before the recorder began is the reason of a failed start', () => {
  expect(nextState(STARTING, { type: 'room-deleted', at: AT }).change).toMatchObject({
    status: 'failed',
    error: 'the room was deleted before the recorder began',
  });
});

describe('the URLs of a broadcast', () => {
  const stream = (id: string, facts: Partial<Stream> = {}): Stream => ({
    ...{
      id,
      url: `rtmp://${id}/live/***`,
      fingerprint: `of ${id}`,
      sealed: `sealed ${id}`,
      state: 'connecting',
    },
    ...{ since: CREATED_AT, error: null, retries: 0 },
    ...facts,
  });
  const running = (streams: readonly Stream[]): Recording => ({
    ...RECORDING,
    ...{ kind: 'broadcast', filepath: '', outputs: writeOutputs({ hls: null, streams }) },
  });
  const observe = (before: Recording, observation: Observation): readonly Stream[] => {
    const { change } = nextState(before, observation);
    return readOutputs({ ...before, ...(change === 'delete' ? {} : change) }).streams;
  };
  const shown = (id: string, facts: Partial<EgressStream> = {}): EgressStream => ({
    ...{ fingerprint: `of ${id}`, status: 'ACTIVE', startedAt: undefined, error: undefined, retries: 0 },
    lastRetryAt: undefined,
    ...facts,
  });
  const both = running([stream('a'), stream('b')]);

  it('each have a state of their own: one is refused, and the other goes on', () => {
    const streams = [shown('b', { status: 'FAILED', error: 'refused' }), shown('a', { startedAt: AT - 1 })];
    expect(observe(both, egress('EGRESS_ACTIVE', { streams }))).toEqual([
      stream('a', { state: 'active', since: AT - 1 }),
      stream('b', { state: 'failed', since: AT, error: 'refused', sealed: null }),
    ]);
  });

  it('do not come back from an end by a report that is older', () => {
    const failed = running([stream('a', { state: 'failed', since: AT, sealed: null })]);
    const active = egress('EGRESS_ACTIVE', { streams: [shown('a', { startedAt: AT - 1 })] });
    expect(nextState(failed, active)).toEqual({ change: undefined });
  });

  it('connect again after their receiver closed, until the recorder itself tells that it did not do so any more', () => {
    const active = stream('a', { state: 'active', since: AT - 9 });
    const report = (retries: number, isAnswer?: true): Observation => {
      const streams = [shown('a', { startedAt: AT - 9, retries, lastRetryAt: AT - retries })];
      return { ...egress('EGRESS_ACTIVE', { streams }), ...(isAnswer && { isAnswer }) } as Observation;
    };
    const [again] = observe(running([active]), report(2));
    expect(again).toEqual({ ...active, state: 'connecting', since: AT - 2, retries: 2 });
    const lost = running([again ?? active]);
    for (const older of [report(1), report(2), report(1, true)])
      expect(nextState(lost, older)).toEqual({ change: undefined });
    expect(observe(lost, report(5, true))).toEqual([{ ...again, retries: 5 }]);
    expect(observe(lost, report(2, true))).toEqual([{ ...again, state: 'active', since: AT }]);
    expect(observe(lost, gone())).toEqual([
      { ...again, state: 'failed', error: 'the receiver closed the connection', since: AT, sealed: null },
    ]);
  });

  it('stay as they ended when the recorder reports its own end later, because there is no file', () => {
    const over = { ...both, status: 'failed', endedAt: AT } as const;
    expect(nextState(over, egress('EGRESS_COMPLETE', { endedAt: AT + 1 }))).toEqual({ change: undefined });
  });

  it('fail if the recorder does not list them a minute after they were added', () => {
    const lost = running([stream('a', { since: AT - 60_000 }), stream('b', { since: AT - 59_999 })]);
    expect(observe(lost, egress('EGRESS_ACTIVE')).map(({ state }) => state)).toEqual([
      'failed',
      'connecting',
    ]);
  });

  it('end with the broadcast, and their keys are forgotten', () => {
    const ends: readonly Observation[] = [
      gone(),
      egress('EGRESS_COMPLETE', { endedAt: LONG_AGO, streams: [shown('a'), shown('b')] }),
      egress('EGRESS_FAILED', { endedAt: LONG_AGO, error: 'no disk' }),
    ];
    for (const end of ends) {
      const streams = observe(both, end);
      expect(streams.map(({ state, sealed }) => [state, sealed])).toEqual([
        ['ended', null],
        ['ended', null],
      ]);
    }
  });

  it('end with a start that was given up', () => {
    const starting: Recording = { ...STARTING, kind: 'broadcast', filepath: '', outputs: both.outputs };
    expect(observe(starting, OBSERVATIONS['start-given-up']).map(({ sealed }) => sealed)).toEqual([
      null,
      null,
    ]);
  });

  it('are added and removed while it runs, and what the recorder refused leaves no trace', () => {
    const change = { added: [stream('c'), stream('d')], removed: [], refused: [] };
    const changed = observe(both, { type: 'streams-changed', change, at: AT });
    expect(changed.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    const done = { added: [], removed: ['a'], refused: ['d'] };
    const left = observe(running(changed), { type: 'streams-changed', change: done, at: AT });
    expect(left.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'a removed',
      'b connecting',
      'c connecting',
    ]);
  });

  it('were removed by a caller also if the recorder reported their end first', () => {
    const reported = running(
      observe(both, egress('EGRESS_ACTIVE', { streams: [shown('a', { status: 'FINISHED' })] })),
    );
    const change = { added: [], removed: ['a'], refused: [] };
    expect(observe(reported, { type: 'streams-changed', change, at: AT })[0]?.state).toBe('removed');
  });

  it('are not changed any more when it does not run', () => {
    const change = { added: [stream('c')], removed: [], refused: [] };
    const stopped = { ...both, status: 'stopped' } as const;
    expect(nextState(stopped, { type: 'streams-changed', change, at: AT })).toEqual({ change: undefined });
  });

  it('are kept up to forty, the oldest ended ones being dropped', () => {
    let broadcast = running([]);
    for (let round = 0; round < 60; round += 1) {
      const added = [stream(`n${round}`, round < 55 ? { state: 'removed' } : {})];
      const change = { added, removed: [], refused: [] };
      broadcast = running(observe(broadcast, { type: 'streams-changed', change, at: AT }));
    }
    const ids = readOutputs(broadcast).streams.map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([40, 'n20', 'n59']);
  });

  it('that failed are found between two versions', () => {
    const failed = running([stream('a'), stream('b', { state: 'failed' })]);
    expect(findFailed(both, failed).map(({ id }) => id)).toEqual(['b']);
    expect(findFailed(failed, failed)).toEqual([]);
  });
});

describe('every transition of a recording in the state machine', () => {
  const transitions = STATE_NAMES.flatMap((state) =>
    Object.values(OBSERVATIONS).map((observation) => ({
      before: STATES[state],
      ...nextState(STATES[state], observation),
    })),
  );

  it('never goes back to an active state, except for the start itself', () => {
    for (const { before, change } of transitions) {
      if (change === undefined || change === 'delete' || before.status === 'starting') continue;
      expect(['stopped', 'aborted', 'failed', undefined]).toContain(change.status);
    }
  });

  it('keeps the claim only of a starting recording, and drops it at its end', () => {
    for (const { before, change } of transitions) {
      if (change === undefined || change === 'delete') continue;
      const after = { ...before, ...change };
      expect(after.claimOwner === null && after.claimUntil === null).toBe(after.status !== 'starting');
    }
  });

  it('keeps the time of an earlier stop', () => {
    for (const { before, change } of transitions) {
      if (before.stoppedAt !== null && change !== 'delete')
        expect({ ...before, ...change }.stoppedAt).toBe(before.stoppedAt);
    }
  });

  it('publishes an end only with a change, in the new state', () => {
    for (const { before, change, event } of transitions) {
      if (event === undefined) continue;
      expect(change).toBeTypeOf('object');
      expect(event.status).toBe({ ...before, ...(change === 'delete' ? {} : change) }.status);
    }
  });

  it('stops and ends it no earlier than it started, whatever the clocks of recorders, buckets and instances', () => {
    const instant = fc.integer({ min: CREATED_AT - 5_000, max: CREATED_AT + 5_000 });
    const states = fc.constantFrom(RECORDING, { ...PENDING, stoppedAt: CREATED_AT + 500 });
    const observed = fc.oneof(
      instant.map((at): Observation => ({ type: 'stop-accepted', at })),
      fc
        .tuple(instant, fc.option(instant, { nil: undefined }), fc.option(instant, { nil: undefined }))
        .map(([at, endedAt, mediaStartedAt]): Observation => {
          const { egress: complete } = OBSERVATIONS['egress complete'] as Observation & { type: 'egress' };
          return { type: 'egress', at, egress: { ...complete, endedAt, mediaStartedAt } };
        }),
      instant.map((at): Observation => ({ ...OBSERVATIONS['egress ending'], at }) as Observation),
      instant.map((at): Observation => ({ ...gone(), at }) as Observation),
      instant.map((modifiedAt) => gone({ sizeBytes: 77, modifiedAt })),
    );
    fc.assert(
      fc.property(states, observed, (before, observation) => {
        const { change } = nextState(before, observation);
        const after: Recording = { ...before, ...(change === 'delete' ? {} : change) };
        const { startedAt, stoppedAt, endedAt, mediaStartedAt } = after;
        expect(stoppedAt ?? CREATED_AT + 500).toBeGreaterThanOrEqual(startedAt ?? 0);
        expect(endedAt ?? CREATED_AT + 500).toBeGreaterThanOrEqual(startedAt ?? 0);
        if (endedAt !== null) expect(endedAt).toBeGreaterThanOrEqual(mediaStartedAt ?? 0);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing when it is applied again', () => {
    for (const state of STATE_NAMES) {
      for (const observation of Object.values(OBSERVATIONS)) {
        const { change } = nextState(STATES[state], observation);
        if (change === undefined || change === 'delete') continue;
        expect(nextState({ ...STATES[state], ...change }, observation)).toEqual({ change: undefined });
      }
    }
  });
});

describe('a recording', () => {
  it('locks its room while it is being started and while it runs', () => {
    const active = STATE_NAMES.filter((name) => isActive(STATES[name]));
    expect(active).toEqual(['starting', 'unwanted start', "another's start", 'recording']);
  });

  it('may be given up from the moment at which the claim of its start ends', () => {
    const claimUntil = CREATED_AT + 60_000;
    expect(hasClaimRunOut(STARTING, claimUntil - 1)).toBe(false);
    expect(hasClaimRunOut(STARTING, claimUntil)).toBe(true);
    expect(hasClaimRunOut({ ...STARTING, claimUntil: null }, claimUntil)).toBe(false);
    expect(hasClaimRunOut({ ...RECORDING, claimUntil }, claimUntil)).toBe(false);
  });
});

describe('the facts of a transition', () => {
  it('are the egress and the time of the start', () => {
    expect(nextState(STARTING, OBSERVATIONS['egress-created']).change).toEqual({
      status: 'recording',
      egressId: 'EG_1',
      startedAt: AT,
      claimOwner: null,
      claimUntil: null,
    });
  });

  it('are the end, the file and its duration in whole milliseconds', () => {
    const file = { ...WRITTEN, durationMs: 59_876.543_21 };
    const complete = egress('EGRESS_COMPLETE', { endedAt: LONG_AGO, file });
    expect(nextState(RECORDING, complete)).toEqual({
      change: {
        status: 'stopped',
        stoppedAt: LONG_AGO,
        endedAt: LONG_AGO,
        sizeBytes: 77,
        durationMs: 59_877,
      },
      event: { status: 'stopped', error: undefined, file: { sizeBytes: 77, durationMs: 59_877 } },
    });
  });

  it('keep the duration that was stored first, which may have been published', () => {
    const file = { ...WRITTEN, durationMs: 60_000 };
    const complete = egress('EGRESS_COMPLETE', { endedAt: LONG_AGO, file });
    const known = { ...STATES.failed, durationMs: 60_500 };
    expect(nextState(known, complete).event).toMatchObject({ file: { durationMs: 60_500 } });
    expect(nextState(known, complete).change).not.toHaveProperty('durationMs');
  });

  it('keep the first report of when the media began', () => {
    const active = (mediaStartedAt: number) => egress('EGRESS_ACTIVE', { mediaStartedAt });
    expect(nextState(RECORDING, active(AT)).change).toEqual({ mediaStartedAt: AT });
    expect(nextState({ ...RECORDING, mediaStartedAt: AT }, active(AT + 1)).change).toBeUndefined();
    const ending = egress('EGRESS_ENDING', { mediaStartedAt: AT });
    expect(nextState(RECORDING, ending).change).toEqual({
      status: 'stopped',
      stoppedAt: AT,
      mediaStartedAt: AT,
    });
  });

  it('have the time of the observation when the media server does not know when the egress ended', () => {
    expect(nextState(RECORDING, egress('EGRESS_FAILED')).change).toMatchObject({
      stoppedAt: AT,
      endedAt: AT,
    });
  });

  it('have the reason of a failed recording, and that a stopped one has no file', () => {
    expect(nextState(RECORDING, gone()).change).toMatchObject({ error: 'the recorder was lost' });
    expect(nextState(PENDING, gone()).change).toMatchObject({
      status: 'failed',
      endedAt: AT,
      error: 'the recorder was lost, and it has no file',
    });
  });

  it('end a recording without a recorder at the last write of its file', () => {
    const found = OBSERVATIONS['recorder gone, file found'];
    const change = { status: 'stopped', endedAt: AT - 5_000, sizeBytes: 77 };
    const event = { status: 'stopped', error: undefined, file: { sizeBytes: 77, durationMs: undefined } };
    // A duration of undefined would replace a stored one.
    expect(nextState(PENDING, found)).toStrictEqual({ change, event });
    expect(nextState(RECORDING, found)).toStrictEqual({ change: { ...change, stoppedAt: AT }, event });
  });

  it('have the time of the loss as the stop of a recording that nobody has stopped', () => {
    expect(nextState(RECORDING, gone()).change).toMatchObject({ stoppedAt: AT, endedAt: AT });
  });

  it('clear the error of a recording that was considered lost and has a file after all', () => {
    expect(nextState(STATES.failed, OBSERVATIONS['egress complete']).change).toMatchObject({
      status: 'stopped',
      error: null,
      ...FILE,
    });
  });

  it('correct an end that was published as failed, at once', () => {
    const failed = { ...STATES.failed, endedAt: AT - 60_000 };
    expect(nextState(failed, OBSERVATIONS['egress complete']).event).toMatchObject({
      status: 'stopped',
      isCorrection: true,
    });
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { EgressStatus } from 'livekit-server-sdk';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, observed } from '../../figures.ts';
import { pollEvery } from '../../support/poll.ts';
import { type RecorderStage, startRecorderStage } from '../../support/recorder-stage.ts';

const SEED = 20_261_131;

/** Number of recordings for each state. They run at the same time. */
const ROOMS = { long: 6, short: 1 } as const;

/** A recorder may take a minute to join its room. After that a comparison finds that it is missing. */
const BOUND_SECONDS = 120;

const killProcess: RecorderState['die'] = ({ media }, { recordingId }) =>
  media.control.killRecorder(recordingId);

const STATES: readonly RecorderState[] = [
  {
    name: 'while it starts, before it has joined the room',
    slug: 'starting',
    spreadMs: 500,
    endsAs: 'failed',
    arrive: async () => {},
    die: killProcess,
  },
  {
    name: 'while it records',
    slug: 'recording',
    spreadMs: 3_000,
    endsAs: 'failed',
    arrive: (stage, recording) => untilStatus(stage, recording, EgressStatus.EGRESS_ACTIVE),
    die: killProcess,
  },
  {
    name: 'while it writes the end of its file',
    slug: 'ending',
    spreadMs: 1_000,
    endsAs: 'failed',
    arrive: async (stage, recording) => {
      await untilStatus(stage, recording, EgressStatus.EGRESS_ACTIVE);
      await stage.client.call('POST', `/v1/rooms/${recording.room}/recording/stop`);
    },
    die: killProcess,
  },
  {
    name: 'its browser alone, while it records',
    slug: 'browser',
    spreadMs: 3_000,
    endsAs: 'stopped',
    arrive: (stage, recording) => untilStatus(stage, recording, EgressStatus.EGRESS_ACTIVE),
    die: ({ media }, { recordingId }) => media.control.closeRecorderBrowser(recordingId),
  },
];

const POLL_INTERVAL_MS = 200;

const DEADLINE_MS = 300_000;

const poll = pollEvery({ everyMs: POLL_INTERVAL_MS, withinMs: DEADLINE_MS });

export const recorderKills: Experiment = { name: 'recorder-kills', run: killRecorders };

async function killRecorders(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const stage = await startRecorderStage(context);
  const random = new Random(SEED);
  const killing = STATES.flatMap((state) =>
    Array.from({ length: ROOMS[runSize] }, (_, index) =>
      killOne(stage, { state, room: `${state.slug}-${index}`, afterMs: random.integer(state.spreadMs) }),
    ),
  );
  report(`${killing.length} recordings`);
  const killed = await Promise.all(killing);
  for (const one of killed) report(`${one.state.name}: ${one.status}, ${one.error ?? 'no error'}`);
  await stage.untilReported(killed.map(({ recordingId }) => recordingId));
  return {
    figures: STATES.flatMap((state) =>
      toFigures(
        stage,
        state,
        killed.filter((one) => one.state === state),
      ),
    ),
    notes: [`Seed ${SEED}.`],
  };
}

function toFigures(stage: RecorderStage, state: RecorderState, killed: readonly Killed[]): readonly Figure[] {
  const { name, endsAs } = state;
  const untrue = killed.filter(({ status, error, sizeBytes }) =>
    status === 'stopped' ? (sizeBytes ?? 0) === 0 : error === null,
  );
  const ends = killed.map(({ recordingId }) => stage.listEnds(recordingId));
  const slowest = (times: readonly number[]): number => Math.round(Math.max(...times) / 1000);
  const within = (what: string, times: readonly number[]): Figure =>
    atMost({ name: `${name}: ${what}`, measured: slowest(times), bound: BOUND_SECONDS, unit: ' s' });
  return [
    observed(`${name}: recordings`, killed.length),
    exactly(
      `${name}: of these, ended as ${endsAs}`,
      killed.filter((one) => one.status === endsAs).length,
      killed.length,
    ),
    exactly(`${name}: ended without a reason, or as stopped without a file`, untrue.length, 0),
    within(
      'the last one had ended after',
      killed.map(({ endedMs }) => endedMs),
    ),
    within(
      'the last room was recorded again after',
      killed.map(({ againMs }) => againMs),
    ),
    exactly(
      `${name}: recordings with exactly one egress_ended`,
      ends.filter((all) => all.length === 1).length,
      killed.length,
    ),
    exactly(
      `${name}: egress_ended with another status than the recording`,
      killed.filter(({ status }, index) => ends[index]?.[0]?.status !== status).length,
      0,
    ),
  ];
}

type RecorderState = {
  readonly name: string;
  readonly slug: string;
  /** The recorder is killed at most this long after it has reached the state. */
  readonly spreadMs: number;
  readonly endsAs: 'failed' | 'stopped';
  readonly arrive: (stage: RecorderStage, recording: Started) => Promise<void>;
  readonly die: (stage: RecorderStage, recording: Started) => void;
};

type Started = { readonly room: string; readonly recordingId: string };

type Killed = Started & {
  readonly state: RecorderState;
  readonly status: unknown;
  readonly error: unknown;
  readonly sizeBytes: number | null;
  /** Milliseconds from the death of the recorder to the end of the recording. */
  readonly endedMs: number;
  /** Milliseconds from the death of the recorder until the room could be recorded again. */
  readonly againMs: number;
};

type Kill = { readonly state: RecorderState; readonly room: string; readonly afterMs: number };

/** Records a room, kills its recorder in the state, and waits for the end and for the room's next recording. */
async function killOne(stage: RecorderStage, { state, room, afterMs }: Kill): Promise<Killed> {
  const { client, media } = stage;
  await client.call('POST', '/v1/rooms', { name: room });
  media.control.join(room, { identity: 'ada' });
  media.control.publish(room, 'ada');
  const start = `/v1/rooms/${room}/recording/start`;
  const { status, json, text } = await client.call('POST', start);
  if (status !== 201) throw new Error(`the recording of ${room} did not start: ${status} ${text}`);
  const recording: Started = { room, recordingId: String(json.egressId) };
  await state.arrive(stage, recording);
  await delay(afterMs);
  state.die(stage, recording);
  const diedAt = performance.now();
  const [ended, againMs] = await Promise.all([untilEnded(stage, recording), untilRecorded(stage, start)]);
  return {
    ...{ ...recording, state, status: ended.json.status, error: ended.json.error },
    sizeBytes: typeof ended.json.sizeBytes === 'number' ? ended.json.sizeBytes : null,
    endedMs: ended.at - diedAt,
    againMs: againMs - diedAt,
  };
}

async function untilStatus(
  stage: RecorderStage,
  { recordingId }: Started,
  wanted: EgressStatus,
): Promise<void> {
  await poll(async () => ((await stage.egressStatus(recordingId)) === wanted ? true : undefined));
}

async function untilEnded({ client }: RecorderStage, { recordingId }: Started) {
  return await poll(async () => {
    const { status, json } = await client.call('GET', `/v1/recordings/${recordingId}`);
    return status === 200 && json.endedAt !== null ? { json, at: performance.now() } : undefined;
  });
}

/** Waits until the room can be recorded again. That recording continues until the end of the experiment. */
async function untilRecorded({ client }: RecorderStage, start: string): Promise<number> {
  return await poll(async () =>
    (await client.call('POST', start)).status === 201 ? performance.now() : undefined,
  );
}

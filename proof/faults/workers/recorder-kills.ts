import { setTimeout as delay } from 'node:timers/promises';
import { EgressStatus } from 'livekit-server-sdk';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, observed } from '../../figures.ts';
import { type AfterKill, type KillState, killInEveryState } from '../../support/faults.ts';
import { pollEvery } from '../../support/poll.ts';
import {
  type EndedRecording,
  findEnded,
  type RecorderStage,
  startRecorderStage,
  startRecording,
} from '../../support/recorder-stage.ts';

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

const poll = pollEvery({ everyMs: 200, withinMs: 300_000 });
export const recorderKills: Experiment = { name: 'recorder-kills', run: killRecorders };

async function killRecorders(context: ExperimentContext): Promise<Findings> {
  const { runSize } = context;
  const stage = await startRecorderStage(context);
  const random = new Random(SEED);
  const kill = async (state: RecorderState): Promise<AfterKill> => {
    const killing = Array.from({ length: ROOMS[runSize] }, (_, index) =>
      killOne(stage, { state, room: `${state.slug}-${index}`, afterMs: random.integer(state.spreadMs) }),
    );
    const killed = await Promise.all(killing);
    await stage.untilReported(killed.map(({ recordingId }) => recordingId));
    return {
      figures: toFigures(stage, state, killed),
      lines: killed.map(({ status, error }) => `${status}, ${error ?? 'no error'}`),
    };
  };
  const figures = await killInEveryState(context, { states: STATES, areTogether: true, kill });
  return { figures, notes: [`Seed ${SEED}.`] };
}

function toFigures(stage: RecorderStage, { endsAs }: RecorderState, killed: readonly Killed[]): Figures {
  const untrue = killed.filter(({ status, error, sizeBytes }) =>
    status === 'stopped' ? (sizeBytes ?? 0) === 0 : error === null,
  );
  const ends = killed.map(({ recordingId }) => stage.listEnds(recordingId));
  const count = (isSo: (one: Killed, index: number) => boolean): number => killed.filter(isSo).length;
  const within = (name: string, readMs: (one: Killed) => number): Figure => {
    const measured = Math.round(Math.max(...killed.map(readMs)) / 1000);
    return atMost({ name, measured, bound: BOUND_SECONDS, unit: ' s' });
  };
  const hasOneEnd = count((_one, index) => ends[index]?.length === 1);
  const hasOtherEnd = count(({ status }, index) => ends[index]?.[0]?.status !== status);
  return [
    observed('recordings', killed.length),
    exactly(
      `of these, ended as ${endsAs}`,
      count(({ status }) => status === endsAs),
      killed.length,
    ),
    exactly('ended without a reason, or as stopped without a file', untrue.length, 0),
    within('the last one had ended after', ({ endedMs }) => endedMs),
    within('the last room was recorded again after', ({ againMs }) => againMs),
    exactly('recordings with exactly one egress_ended', hasOneEnd, killed.length),
    exactly('egress_ended with another status than the recording', hasOtherEnd, 0),
  ];
}

type RecorderState = KillState & {
  /** The recorder is killed at most this long after it has reached the state. */
  readonly spreadMs: number;
  readonly endsAs: 'failed' | 'stopped';
  readonly arrive: (stage: RecorderStage, recording: Started) => Promise<void>;
  readonly die: (stage: RecorderStage, recording: Started) => void;
};

type Started = { readonly room: string; readonly recordingId: string };

type Killed = Started &
  EndedRecording & {
    /** Milliseconds from the death of the recorder to the end of the recording. */
    readonly endedMs: number;
    /** Milliseconds from the death of the recorder until the room could be recorded again. */
    readonly againMs: number;
  };

type Kill = { readonly state: RecorderState; readonly room: string; readonly afterMs: number };

/** Records a room, kills its recorder in the state, and waits for the end and for the room's next recording. */
async function killOne(stage: RecorderStage, { state, room, afterMs }: Kill): Promise<Killed> {
  await stage.client.call('POST', '/v1/rooms', { name: room });
  stage.enter(room);
  const recording: Started = { room, recordingId: await startRecording(stage, room) };
  await state.arrive(stage, recording);
  await delay(afterMs);
  state.die(stage, recording);
  const diedAt = performance.now();
  const [ended, againAt] = await Promise.all([
    poll(() => findEnded(stage, recording.recordingId)),
    untilRecorded(stage, room),
  ]);
  return { ...recording, ...ended, endedMs: ended.seenAt - diedAt, againMs: againAt - diedAt };
}

async function untilStatus(
  stage: RecorderStage,
  { recordingId }: Started,
  wanted: EgressStatus,
): Promise<void> {
  await poll(async () => (await stage.egressStatus(recordingId)) === wanted);
}

/** Waits until the room can be recorded again. That recording continues until the end of the experiment. */
async function untilRecorded({ client }: RecorderStage, room: string): Promise<number> {
  const start = `/v1/rooms/${room}/recording/start`;
  await poll(async () => (await client.call('POST', start)).status === 201);
  return performance.now();
}

import { setTimeout as delay } from 'node:timers/promises';
import { EgressStatus } from 'livekit-server-sdk';
import { pollEvery } from '../../support/poll.ts';
import type { RecorderStage } from '../../support/recorder-stage.ts';

export type RecorderState = {
  readonly name: string;
  readonly slug: string;
  /** The recorder is killed at most this long after it has reached the state. */
  readonly spreadMs: number;
  readonly endsAs: 'failed' | 'stopped';
  readonly arrive: (stage: RecorderStage, recording: Started) => Promise<void>;
  readonly die: (stage: RecorderStage, recording: Started) => void;
};

export type Started = { readonly room: string; readonly recordingId: string };

export type Killed = Started & {
  readonly state: RecorderState;
  readonly status: unknown;
  readonly error: unknown;
  readonly sizeBytes: number | null;
  /** Milliseconds from the death of the recorder to the end of the recording. */
  readonly endedMs: number;
  /** Milliseconds from the death of the recorder until the room could be recorded again. */
  readonly againMs: number;
};

const killProcess: RecorderState['die'] = ({ media }, { recordingId }) =>
  media.control.killRecorder(recordingId);

export const STATES: readonly RecorderState[] = [
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

export type Kill = { readonly state: RecorderState; readonly room: string; readonly afterMs: number };

/** Records a room, kills its recorder in the state, and waits for the end and for the room's next recording. */
export async function killOne(stage: RecorderStage, { state, room, afterMs }: Kill): Promise<Killed> {
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

const POLL_INTERVAL_MS = 200;
const DEADLINE_MS = 300_000;
const poll = pollEvery({ everyMs: POLL_INTERVAL_MS, withinMs: DEADLINE_MS });

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

/** Waits until the room can be recorded again. That recording continues until the end of the part. */
async function untilRecorded({ client }: RecorderStage, start: string): Promise<number> {
  return await poll(async () =>
    (await client.call('POST', start)).status === 201 ? performance.now() : undefined,
  );
}

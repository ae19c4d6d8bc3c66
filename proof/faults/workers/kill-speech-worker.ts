import { copyFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import type { RecorderStage } from '../../support/recorder-stage.ts';
import { startWorkerProcess, type WorkerSettings } from '../../support/worker-process.ts';

/** A statement at which the worker is killed, and whether the database still receives it. */
export type WorkerState = {
  readonly name: string;
  readonly slug: string;
  readonly text: string;
  readonly passage: 'passes' | 'held';
};

export const STATES: readonly WorkerState[] = [
  {
    name: 'while it claims the recording',
    slug: 'claiming',
    text: `status = 'processing', attempts = attempts + 1`,
    passage: 'passes',
  },
  {
    name: 'before its first segment is stored',
    slug: 'unstored',
    text: 'insert into "segments"',
    passage: 'held',
  },
  {
    name: 'while a segment is being stored',
    slug: 'storing',
    text: 'insert into "segments"',
    passage: 'passes',
  },
  { name: 'while it stores the end', slug: 'ending', text: 'insert into events', passage: 'passes' },
];

export type SpeechStage = RecorderStage &
  WorkerSettings & {
    /** The file that is transcribed. */
    readonly spoken: string;
  };

export type Outcome = {
  readonly status: unknown;
  readonly segments: number;
  /** Segments that begin at the same time as another segment. */
  readonly repeated: number;
  readonly words: string;
  readonly events: number;
  readonly completedMs: number;
  readonly isPlaced: boolean;
};

const DEADLINE_MS = 240_000;
const POLL_INTERVAL_MS = 100;

/** Transcribes a recording with a worker that is killed in the state, and then with a second one. */
export async function killWorker(
  stage: SpeechStage,
  state: WorkerState | undefined,
  room: string,
): Promise<Outcome> {
  const recordingId = await record(stage, room);
  const proxy = await startDatabaseProxy(() => Number(new URL(stage.databaseUrl).port));
  const victim = await startWorkerProcess('stt-post', {
    ...stage,
    databaseUrl: proxy.through(stage.databaseUrl),
  });
  const died = Promise.withResolvers<number>();
  if (state === undefined) died.resolve(performance.now());
  else
    proxy.onNext(state.text, () => {
      victim.kill().then(() => died.resolve(performance.now()));
      return state.passage;
    });
  const queued = await stage.client.call('POST', `/v1/recordings/${recordingId}/transcribe`, {
    language: 'en',
  });
  const id = String(queued.json.transcriptionId);
  const diedAt = await Promise.race([died.promise, delay(DEADLINE_MS, undefined, { ref: false })]);
  const successor = state === undefined ? victim : await startWorkerProcess('stt-post', stage);
  const json = await untilEnded(stage, id);
  const completedMs = Math.round(performance.now() - (diedAt ?? 0));
  await Promise.all([victim.kill(), successor.kill()]);
  await proxy.close();
  const segments: readonly Segment[] = Array.isArray(json.segments) ? json.segments : [];
  return {
    ...{ status: json.status, segments: segments.length, completedMs, isPlaced: diedAt !== undefined },
    repeated: segments.length - new Set(segments.map(({ start }) => start)).size,
    words: segments.map(({ text }) => text).join(' '),
    events: await countEvents(stage, id),
  };
}

type Segment = { readonly start: number; readonly text: string };

/** Records the room, and replaces the recorder's silent file by the spoken one. */
async function record(stage: SpeechStage, room: string): Promise<string> {
  const { client, media } = stage;
  await client.call('POST', '/v1/rooms', { name: room });
  media.control.join(room, { identity: 'ada' });
  media.control.publish(room, 'ada');
  const { json } = await client.call('POST', `/v1/rooms/${room}/recording/start`);
  const recordingId = String(json.egressId);
  await delay(RECORDED_MS);
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
  for (;;) {
    const { json: recording } = await client.call('GET', `/v1/recordings/${recordingId}`);
    const file: { readonly path?: string } = Object(recording.file);
    if (recording.endedAt !== null && file.path !== undefined) {
      await copyFile(stage.spoken, file.path);
      return recordingId;
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** Longer than the recorder takes to start. */
const RECORDED_MS = 4_000;

async function untilEnded({ client }: SpeechStage, id: string) {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const { json, status, text } = await client.call('GET', `/v1/transcriptions/${id}`);
    if (json.status === 'completed' || json.status === 'failed') return json;
    if (performance.now() > deadline) throw new Error(`the transcription has not ended: ${status} ${text}`);
    await delay(POLL_INTERVAL_MS);
  }
}

async function countEvents({ client }: SpeechStage, id: string): Promise<number> {
  const { json } = await client.call('GET', '/v1/events?limit=500');
  const events: readonly { readonly transcription?: { readonly transcriptionId?: string } }[] = Array.isArray(
    json.events,
  )
    ? json.events
    : [];
  return events.filter(({ transcription }) => transcription?.transcriptionId === id).length;
}

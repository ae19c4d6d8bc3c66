import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, observed } from '../../figures.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { type RecorderStage, startRecorderStage } from '../../support/recorder-stage.ts';
import { startWorkerProcess, type WorkerSettings } from '../../support/worker-process.ts';

/** A worker's lease expires after 12 s. Then another worker continues after the last stored segment. */
const BOUND_SECONDS = 60;

const STATES: readonly WorkerState[] = [
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

const DEADLINE_MS = 240_000;

const POLL_INTERVAL_MS = 100;

/** Longer than the recorder takes to start. */
const RECORDED_MS = 4_000;

export const speechKills: Experiment = { name: 'speech-kills', run: killSpeechWorkers };

async function killSpeechWorkers(context: ExperimentContext): Promise<Findings> {
  const { report, cleanUp } = context;
  const database = await startPostgresServer();
  cleanUp(database.close);
  const settings = { DATABASE_URL: database.url, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
  const folder = await mkdtemp(join(tmpdir(), 'rtc-spoken-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  const spoken = await makeSpokenRecording(folder);
  const recorder = await startRecorderStage(context, settings);
  const worker = {
    settings: { ...settings, RECORDING_DIR: recorder.recordingDir },
    databaseUrl: database.url,
  };
  const stage: SpeechStage = { ...recorder, ...worker, spoken };
  const undisturbed = await killWorker(stage, undefined, 'undisturbed');
  report(`undisturbed: ${undisturbed.status}, ${undisturbed.segments} segments: ${undisturbed.words}`);
  const figures: Figure[] = [
    exactly('without a kill: completed transcriptions', Number(undisturbed.status === 'completed'), 1),
    observed('without a kill: segments', undisturbed.segments),
  ];
  for (const state of STATES) {
    const outcome = await killWorker(stage, state, state.slug);
    report(`${state.name}: ${outcome.status}, ${outcome.segments} segments, after ${outcome.completedMs} ms`);
    figures.push(...toFigures(state, outcome, undisturbed));
  }
  return { figures, versions: { PostgreSQL: database.version } };
}

function toFigures({ name }: WorkerState, outcome: Outcome, undisturbed: Outcome): readonly Figure[] {
  const { isPlaced, status, repeated, words, events, completedMs } = outcome;
  return [
    exactly(`${name}: kills at that place`, Number(isPlaced), 1),
    exactly(`${name}: completed transcriptions`, Number(status === 'completed'), 1),
    exactly(`${name}: segments that are there twice`, repeated, 0),
    exactly(`${name}: transcriptions with other words`, Number(words !== undisturbed.words), 0),
    exactly(`${name}: events of the transcription`, events, 1),
    atMost({
      name: `${name}: time from the kill to the end`,
      measured: Math.round(completedMs / 1000),
      bound: BOUND_SECONDS,
      unit: ' s',
    }),
  ];
}

/** A statement at which the worker is killed, and whether the database still receives it. */
type WorkerState = {
  readonly name: string;
  readonly slug: string;
  readonly text: string;
  readonly passage: 'passes' | 'held';
};

type SpeechStage = RecorderStage &
  WorkerSettings & {
    /** The file that is transcribed. */
    readonly spoken: string;
  };

type Outcome = {
  readonly status: unknown;
  readonly segments: number;
  /** Segments that begin at the same time as another segment. */
  readonly repeated: number;
  readonly words: string;
  readonly events: number;
  readonly completedMs: number;
  readonly isPlaced: boolean;
};

/** Transcribes a recording with a worker that is killed in the state, and then with a second one. */
async function killWorker(
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

/** Makes an MP4 file of 44 s of read speech, as a recorder would write it. Returns its path. */
async function makeSpokenRecording(folder: string): Promise<string> {
  const path = join(folder, 'spoken.mp4');
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
  return path;
}

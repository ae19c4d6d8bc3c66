import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { atMost, exactly, type Figures, named, observed } from '../../figures.ts';
import { type KillState, killInEveryState } from '../../support/faults.ts';
import { pollEvery } from '../../support/poll.ts';
import {
  findEnded,
  type RecorderStage,
  startRecorderStage,
  startRecording,
} from '../../support/recorder-stage.ts';
import {
  countTranscriptionEvents,
  type Statement,
  startVictim,
  startWorkerProcess,
  type WorkerSettings,
} from '../../support/worker-process.ts';

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
const poll = pollEvery({ everyMs: 100, withinMs: DEADLINE_MS });
/** Longer than the recorder takes to start. */
const RECORDED_MS = 4_000;
export const speechKills: Experiment = { name: 'speech-kills', run: killSpeechWorkers };

async function killSpeechWorkers(context: ExperimentContext): Promise<Findings> {
  const { report, cleanUp } = context;
  const database = cleanUp(await startPostgresServer());
  const settings = { DATABASE_URL: database.url, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
  const folder = await makeFolder({ cleanUp });
  const spoken = await makeSpokenRecording(folder);
  const recorder = await startRecorderStage(context, settings);
  const worker = {
    settings: { ...settings, RECORDING_DIR: recorder.recordingDir },
    databaseUrl: database.url,
  };
  const stage: SpeechStage = { ...recorder, ...worker, spoken };
  const undisturbed = await transcribe(stage, 'undisturbed');
  report(`undisturbed: ${undisturbed.status}, ${undisturbed.segments} segments: ${undisturbed.words}`);
  const figures = await killInEveryState(context, {
    states: STATES,
    kill: async (state) => {
      const outcome = await transcribe(stage, state.slug, state);
      const line = `${outcome.status}, ${outcome.segments} segments, after ${outcome.completedMs} ms`;
      return { figures: toFigures(outcome, undisturbed), lines: [line] };
    },
  });
  return {
    figures: [
      ...named('without a kill', [
        exactly('completed transcriptions', Number(undisturbed.status === 'completed'), 1),
        observed('segments', undisturbed.segments),
      ]),
      ...figures,
    ],
    versions: { PostgreSQL: database.version },
  };
}

function toFigures(outcome: Outcome, undisturbed: Outcome): Figures {
  const { isPlaced, status, repeated, words, events, completedMs } = outcome;
  const measured = Math.round(completedMs / 1000);
  return [
    exactly('kills at that place', Number(isPlaced), 1),
    exactly('completed transcriptions', Number(status === 'completed'), 1),
    exactly('segments that are there twice', repeated, 0),
    exactly('transcriptions with other words', Number(words !== undisturbed.words), 0),
    exactly('events of the transcription', events, 1),
    atMost({ name: 'time from the kill to the end', measured, bound: BOUND_SECONDS, unit: ' s' }),
  ];
}

/** The worker is killed at a statement. */
type WorkerState = KillState & Statement;

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

/** Transcribes a recording. With a state, by a worker that is killed in it, and then by a second one. */
async function transcribe(stage: SpeechStage, room: string, state?: WorkerState): Promise<Outcome> {
  const { client } = stage;
  const recordingId = await record(stage, room);
  const startedAt = performance.now();
  const victim = await startVictim('stt-post', stage);
  if (state !== undefined) victim.killAt(state);
  const path = `/v1/recordings/${recordingId}/transcribe`;
  const id = String((await client.call('POST', path, { language: 'en' })).json.transcriptionId);
  const diedAt = state === undefined ? startedAt : await victim.findDeath(DEADLINE_MS);
  const successor = state === undefined ? undefined : await startWorkerProcess('stt-post', stage);
  const json = await poll(async () => {
    const { json: found } = await client.call('GET', `/v1/transcriptions/${id}`);
    return (found.status === 'completed' || found.status === 'failed') && found;
  });
  const completedMs = Math.round(performance.now() - (diedAt ?? 0));
  await Promise.all([victim.close(), successor?.kill()]);
  const segments: readonly Segment[] = Array.isArray(json.segments) ? json.segments : [];
  return {
    ...{ status: json.status, segments: segments.length, completedMs, isPlaced: diedAt !== undefined },
    repeated: segments.length - new Set(segments.map(({ start }) => start)).size,
    words: segments.map(({ text }) => text).join(' '),
    events: await countTranscriptionEvents(client, id),
  };
}

type Segment = { readonly start: number; readonly text: string };

/** Records the room, and replaces the recorder's silent file by the spoken one. */
async function record(stage: SpeechStage, room: string): Promise<string> {
  const { client, enter, spoken } = stage;
  await client.call('POST', '/v1/rooms', { name: room });
  enter(room);
  const recordingId = await startRecording(stage, room);
  await delay(RECORDED_MS);
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
  await copyFile(spoken, await poll(async () => (await findEnded(stage, recordingId))?.path));
  return recordingId;
}

/** Makes an MP4 file of 44 s of read speech, as a recorder would write it. Returns its path. */
async function makeSpokenRecording(folder: string): Promise<string> {
  const path = join(folder, 'spoken.mp4');
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
  return path;
}

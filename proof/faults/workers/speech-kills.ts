import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import {
  atMost,
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import {
  killWorker,
  type Outcome,
  type SpeechStage,
  STATES,
  type WorkerState,
} from './kill-speech-worker.ts';
import { startRecorderStage } from '../../support/recorder-stage.ts';
import { makeSpokenRecording } from './spoken-recording.ts';

/** A worker's lease expires after 12 s. Then another worker continues after the last stored segment. */
const BOUND_SECONDS = 60;

export const speechKills: ProofPart = {
  name: 'speech-kills',
  title: 'Speech workers are killed while they claim, transcribe and store',
  claim:
    'When a worker that transcribes a recording is killed, another worker completes the transcription: it has each segment once, the words of a ' +
    `transcription without a kill, and one event; it takes at most ${BOUND_SECONDS} s from the kill.`,
  attack: [
    'Real stt-post workers with the real speech model (moonshine-tiny-en) and ffmpeg transcribe a recording of spoken sentences. They share a ' +
      'PostgreSQL server with one instance of the service. A worker is killed (SIGKILL), and another one is started at that moment.',
    `A proxy between the worker and its database places each kill: ${STATES.map(({ name }) => name).join('; ')}. The part compares the ` +
      'transcription with one that nobody disturbed.',
  ],
  found: [
    'A worker set the end of its lease by the monotonic clock whenever it stored progress. On SQLite another worker could take the recording at once; on PostgreSQL every longer transcription failed (abb4873).',
  ],
  notClaimed: [
    'Live transcription: the part live-speech-kills kills its workers.',
    'Every moment within a state: one worker is killed in each.',
    'A recording that kills every worker that reads it: it fails as worker-lost after three of them.',
  ],
  run: killSpeechWorkers,
};

async function killSpeechWorkers(context: ProofContext): Promise<Findings> {
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
    figures.push(...figuresOf(state, outcome, undisturbed));
  }
  return { figures, versions: { PostgreSQL: database.version } };
}

function figuresOf({ name }: WorkerState, outcome: Outcome, undisturbed: Outcome): readonly Figure[] {
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

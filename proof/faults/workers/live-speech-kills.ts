import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import {
  atLeast,
  atMost,
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import {
  killLiveWorker,
  LIVE_STATES,
  type LiveOutcome,
  type LiveSegment,
  type LiveState,
  makeSentences,
} from './kill-live-worker.ts';
import { startLiveStage } from './live-stage.ts';

/** The lease expires after two seconds, and another worker claims it at once. A busy machine takes longer. */
const BOUND_SECONDS = 15;
/** Segments may overlap by this much: times are rounded, and a segment includes the pause that ends it. */
const TOUCHING_SECONDS = 0.3;
const STATES_OF_SHORT = ['sentence', 'storing'];

export const liveSpeechKills: ProofPart = {
  name: 'live-speech-kills',
  title: 'Live speech workers are killed while they claim, listen and store',
  claim:
    `When a worker that transcribes a call is killed, another one takes the call over within ${BOUND_SECONDS} s: what was stored stays as it was, what is said after the ` +
    'takeover is transcribed, no segments overlap, and the transcription ends with one event and the number of its segments.',
  attack: [
    'Real stt-live workers with the real speech model (moonshine-tiny-en) transcribe rooms of a real LiveKit, in which somebody speaks sentences ' +
      '(espeak-ng). They share a PostgreSQL server with one instance of the service. A worker is killed (SIGKILL) while another one is ready.',
    `It dies ${LIVE_STATES.map(({ name }) => name).join('; ')}. Where a statement places the kill, a proxy between the worker and its database ` +
      'waits for it. The part then waits until the other worker has the transcription, has somebody report one more sentence, and stops it.',
  ],
  notClaimed: [
    'The sentence in whose middle the worker died, and what is said between the kill and the takeover: both are lost.',
    'How well a sentence is recognised: one word of it is enough here, because a busy machine loses sound on the way to the worker.',
    'Every moment within a state: one worker is killed in each.',
    'A takeover within one lease if the machine held up all workers: a worker that notices such a pause waits, so that the owner can renew its lease.',
  ],
  run: killLiveWorkers,
};

async function killLiveWorkers(context: ProofContext): Promise<Findings> {
  const { form, report, cleanUp } = context;
  const stage = await startLiveStage(context);
  const folder = await mkdtemp(join(tmpdir(), 'rtc-sentences-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  const sentences = await makeSentences(folder);
  const figures: Figure[] = [];
  const states = LIVE_STATES.filter(({ slug }) => form === 'long' || STATES_OF_SHORT.includes(slug));
  for (const state of states) {
    const outcome = await killLiveWorker(stage, state, sentences);
    const texts = outcome.after.map(({ text }) => text).join(' | ');
    report(`${state.name}: taken over after ${outcome.takenOverMs} ms; ${texts}`);
    figures.push(...figuresOf(state, outcome));
  }
  return { figures, versions: { LiveKit: livekitServerVersion, PostgreSQL: stage.databaseVersion } };
}

function figuresOf({ name, at }: LiveState, outcome: LiveOutcome): readonly Figure[] {
  const { isPlaced, takenOverMs, before, after, heardAgain, counted, events } = outcome;
  const kept = before.filter((one) => after.some((other) => isSame(one, other)));
  const seconds = (takenOverMs ?? 0) / 1000;
  const takeover = { name: `${name}: held by another worker after`, bound: BOUND_SECONDS, unit: ' s' };
  return [
    exactly(`${name}: kills at that place`, Number(isPlaced), 1),
    ...(at === 'stop' ? [] : [atMost({ ...takeover, measured: Math.round(seconds * 10) / 10 })]),
    observed(`${name}: segments before the kill`, before.length),
    exactly(`${name}: of these, lost or changed`, before.length - kept.length, 0),
    ...(at === 'stop'
      ? []
      : [
          atLeast({
            name: `${name}: words of the sentence after the takeover`,
            measured: wordsIn(heardAgain),
            bound: 1,
          }),
        ]),
    exactly(`${name}: segments that overlap another one`, overlapping(after), 0),
    exactly(
      `${name}: segments that the stop counted and nobody can read, or the other way round`,
      Math.abs(counted - after.length),
      0,
    ),
    exactly(`${name}: events of the end`, events, 1),
  ];
}

function isSame(one: LiveSegment, other: LiveSegment): boolean {
  return one.start === other.start && one.end === other.end && one.text === other.text;
}

function wordsIn(segments: readonly LiveSegment[]): number {
  return segments.flatMap(({ text }) => text.split(/\s+/)).filter((word) => word !== '').length;
}

function overlapping(segments: readonly LiveSegment[]): number {
  const ordered = segments.toSorted((one, other) => one.start - other.start);
  return ordered.filter((one, index) => {
    const next = ordered[index + 1];
    return next !== undefined && one.end - next.start > TOUCHING_SECONDS;
  }).length;
}

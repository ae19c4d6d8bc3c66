import { Random } from '../../../test/support/random.ts';
import {
  atMost,
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import { type Killed, killOne, type RecorderState, STATES } from './kill-recorder.ts';
import { type RecorderStage, startRecorderStage } from '../../support/recorder-stage.ts';

const SEED = 20_261_131;
/** Number of recordings for each state. They run at the same time. */
const ROOMS = { long: 6, short: 1 } as const;
/** A recorder may take a minute to join its room. After that a comparison finds that it is missing. */
const BOUND_SECONDS = 120;

export const recorderKills: ProofPart = {
  name: 'recorder-kills',
  title: 'Recorders are killed in every state',
  claim:
    'Whatever state a recorder is killed in, the recording ends by itself with a status that is true, one egress_ended is delivered, and the ' +
    `room can be recorded again, within ${BOUND_SECONDS} s.`,
  attack: [
    'The recorder is that of the embedded media server (docs/embedded-media.md), with the states and times that were measured on ' +
      "LiveKit's own; it runs in the process of the part. The service is a process of its own, with real files in a folder.",
    `For each state ${ROOMS.long} rooms are recorded at the same time, and their recorder dies: ${STATES.map(({ name }) => name).join('; ')}. A killed ` +
      'recorder stays in its room for 22 s more, and its egress keeps its state for ever, as with the real one. A dead browser leaves the ' +
      'room at once, and its process can still be stopped.',
    'The part reads each recording until it has ended, tries to record the room again until that succeeds, and counts the egress_ended that ' +
      'a webhook got, with their signatures.',
  ],
  found: [
    "When a recorder's browser died alone, the recording failed after a minute while its egress continued and stored a whole file. The service stops such a recorder first now, and takes its file (02b9b7a).",
  ],
  notClaimed: [
    "LiveKit's own recorder: this part does not start it.",
    'The file of a recording whose recorder was killed: it dies with the recorder.',
    'A recorder that is frozen and continues later.',
  ],
  run: killRecorders,
};

async function killRecorders(context: ProofContext): Promise<Findings> {
  const { form, report } = context;
  const stage = await startRecorderStage(context);
  const random = new Random(SEED);
  const killing = STATES.flatMap((state) =>
    Array.from({ length: ROOMS[form] }, (_, index) =>
      killOne(stage, { state, room: `${state.slug}-${index}`, afterMs: random.integer(state.spreadMs) }),
    ),
  );
  report(`${killing.length} recordings`);
  const killed = await Promise.all(killing);
  for (const one of killed) report(`${one.state.name}: ${one.status}, ${one.error ?? 'no error'}`);
  await stage.untilReported(killed.map(({ recordingId }) => recordingId));
  return {
    figures: STATES.flatMap((state) =>
      figuresOf(
        stage,
        state,
        killed.filter((one) => one.state === state),
      ),
    ),
    notes: [`Seed ${SEED}.`],
  };
}

function figuresOf(stage: RecorderStage, state: RecorderState, killed: readonly Killed[]): readonly Figure[] {
  const { name, endsAs } = state;
  const untrue = killed.filter(({ status, error, sizeBytes }) =>
    status === 'stopped' ? (sizeBytes ?? 0) === 0 : error === null,
  );
  const ends = killed.map(({ recordingId }) => stage.endsOf(recordingId));
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

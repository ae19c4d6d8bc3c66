import { INGRESS_TYPES } from '../../../src/contract/choices.ts';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import {
  atMost,
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import { type IngressStage, startIngressStage } from './ingress-stage.ts';
import { INGRESS_STATES, type IngressOutcome, killIngressWorker } from './kill-ingress.ts';

/** LiveKit removes a participant whose process died after some 20 s; the push begins again as soon as a worker takes it. */
const BOUND_SECONDS = 60;
const STATES_OF_SHORT = ['waiting', 'publishing'];

export const ingressKills: ProofPart = {
  name: 'ingress-kills',
  title: 'Ingress workers are killed in every state',
  claim:
    `Whatever an ingress worker does when it is killed: a camera that pushes again is in its room again within ${BOUND_SECONDS} s after the kill, it leaves the room ` +
    `within ${BOUND_SECONDS} s after its push ends, the service lists what is true and answers every request, and the ingress can be deleted.`,
  attack: [
    "LiveKit's real ingress service takes RTMP pushes of ffmpeg (a test picture and a tone) and WHIP pushes of Chromium (its test camera and " +
      'microphone) for rooms of a real LiveKit with its Redis. The pushes begin again when they break off, as those of a camera do.',
    `The ingress service is killed with the processes of its streams (SIGKILL) ${INGRESS_STATES.map(({ name }) => name).join('; ')}. Another one is ` +
      'started at its address at once. The part reads the participants from the service until the push has both tracks again, ends the push, and ' +
      'waits until nobody is left.',
  ],
  notClaimed: [
    'Every moment within a state: one worker is killed in each. A push counts as beginning when LiveKit first lists it as begun.',
    'An ingress_stopped of the stream that was killed: LiveKit does not report it. The table shows how many came.',
    'The picture between the kill and the new push: it is lost.',
  ],
  run: killIngressWorkers,
};

async function killIngressWorkers(context: ProofContext): Promise<Findings> {
  const { form, report } = context;
  const stage = await startIngressStage(context);
  const figures: Figure[] = [];
  for (const state of INGRESS_STATES) {
    if (form === 'short' && !STATES_OF_SHORT.includes(state.slug)) continue;
    for (const kind of INGRESS_TYPES) {
      const name = `${kind.toUpperCase()}, ${state.name}`;
      const outcome = await killIngressWorker(stage, state, kind);
      report(`${name}: published after ${outcome.publishedMs} ms, left after ${outcome.leftMs} ms`);
      for (const failure of outcome.failures.slice(0, 5)) report(failure);
      figures.push(...figuresOf(stage, name, outcome));
    }
  }
  return { figures, versions: { LiveKit: livekitServerVersion } };
}

function figuresOf(stage: IngressStage, name: string, outcome: IngressOutcome): readonly Figure[] {
  const { ingressId, isPlaced, publishedMs, leftMs, failures, isDeleted } = outcome;
  const events = stage.eventsOf(ingressId);
  const ids = new Set(events.map(({ body }) => body.id));
  const within = (what: string, ms: number): Figure =>
    atMost({ name: `${name}: ${what}`, measured: Math.round(ms / 1000), bound: BOUND_SECONDS, unit: ' s' });
  return [
    exactly(`${name}: kills at that place`, Number(isPlaced), 1),
    ...(publishedMs === undefined ? [] : [within('in the room again after', publishedMs)]),
    within('nobody in the room after the end of the push', leftMs),
    exactly(`${name}: requests to the service that failed`, failures.length, 0),
    observed(
      `${name}: ingress_started`,
      events.filter(({ body }) => body.event === 'ingress_started').length,
    ),
    observed(
      `${name}: ingress_stopped`,
      events.filter(({ body }) => body.event === 'ingress_stopped').length,
    ),
    exactly(`${name}: events that arrived twice`, events.length - ids.size, 0),
    exactly(`${name}: events with a wrong signature`, events.filter((one) => !stage.isSigned(one)).length, 0),
    exactly(`${name}: ingresses that were deleted`, Number(isDeleted), 1),
  ];
}

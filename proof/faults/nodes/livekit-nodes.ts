import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import {
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import {
  callUntil,
  MEDIA_OPERATIONS,
  mediaRefusals,
  otherFailures,
  STORED_OPERATIONS,
  unexpectedLines,
} from '../../support/callers.ts';
import { percentile } from '../../support/percentile.ts';
import { callersOn } from '../media/media-stage.ts';
import { type NodeStage, startNodeStage } from './node-stage.ts';
import { aftermath, BOUND_SECONDS, strike, watch } from './strike-node.ts';

const SEED = 20_261_130;
const CALLERS = 4;
const PAUSE_MS = 40;
const SECONDS = { calm: 5, settling: 15, later: 20, frozen: 40 } as const;

export const livekitNodes: ProofPart = {
  name: 'livekit-nodes',
  title: 'Two LiveKit nodes share one Redis; one is killed, and one is frozen and thawed',
  claim:
    'When a LiveKit node dies, its rooms move to the other node under their ids. The service reports each person who does not come back as left ' +
    `once, and rooms to which nobody comes back as finished; its lists agree with the people themselves within ${BOUND_SECONDS} s. While a node is ` +
    `dead or frozen, no success is wrong, and after ${SECONDS.settling} s no request is refused.`,
  attack: [
    'Two real LiveKit nodes share one Redis behind HAProxy, which checks both every second; LIVEKIT_URL is its address. People join by ' +
      "LiveKit's own client: two in a room whose people leave when the node is lost, two in a room whose people stay, both on the node that is " +
      'struck, and two in a room of the other node. The struck node has three rooms without people too.',
    `One node is killed (SIGKILL), and started again when everything has settled. Then the other one is frozen (SIGSTOP) for ${SECONDS.frozen} s and ` +
      `continues. Meanwhile ${CALLERS} callers create, read, list and delete rooms, and ${CALLERS} others send requests that need the database alone.`,
    'The truth is what the clients know: who is connected, and who left. The deserted room is the one whose people leave with the node. The part compares the lists of rooms and of participants with it until ' +
      'they agree for two seconds. The events are those that a webhook got.',
  ],
  notClaimed: [
    'A call without a gap: the clients of the people on a lost node connect again, which takes seconds. Clients whose signalling went through ' +
      'the lost node connect again too, also from rooms of the other node.',
    "True lists after a frozen node continues: it takes people who have moved to the other node off LiveKit's own lists, and the service " +
      'reports what LiveKit lists. The table shows how it ended.',
    `Requests about rooms in the first ${SECONDS.settling} s: LiveKit still assigns rooms to the lost node then, and they may be refused with a problem.`,
  ],
  run: strikeNodes,
};

async function strikeNodes(context: ProofContext): Promise<Findings> {
  const { report } = context;
  const stage = await startNodeStage(context, 4 * CALLERS);
  const random = new Random(SEED);
  const call = createCalls(stage, random, report);
  const settled = async (...args: Parameters<typeof aftermath>): Promise<readonly Figure[]> => {
    const { figures, lines } = await aftermath(...args);
    for (const line of lines) report(line);
    return figures;
  };
  const [first, second] = stage.nodes;
  const figures: Figure[] = [...(await call('before the faults', SECONDS.calm, 'calm'))];

  const killed = await strike(stage, { prefix: 'killed', node: first, blow: () => first.livekit().kill() });
  const afterKill = watch(stage, killed);
  figures.push(...(await call('after a node was killed', SECONDS.settling, 'settling')));
  figures.push(...(await call('later', SECONDS.later, 'calm')));
  figures.push(
    ...(await settled(stage, killed, { since: 'the kill', seen: await afterKill, claims: 'claimed' })),
  );
  await first.startAgain();
  figures.push(...(await call('with two nodes again', SECONDS.calm, 'calm')));

  const blow = async () => second.livekit().freeze();
  const frozen = await strike(stage, { prefix: 'frozen', node: second, blow });
  figures.push(...(await call('after a node was frozen', SECONDS.settling, 'settling')));
  figures.push(...(await call('later while it is frozen', SECONDS.frozen - SECONDS.settling, 'calm')));
  second.livekit().thaw();
  const afterThaw = watch(stage, frozen);
  figures.push(...(await call('after it was thawed', SECONDS.settling, 'settling')));
  figures.push(...(await call('later after the thaw', SECONDS.later, 'calm')));
  figures.push(
    ...(await settled(stage, frozen, { since: 'the thaw', seen: await afterThaw, claims: 'observed' })),
  );
  figures.push(exactly('events that a webhook got twice', repeated(stage), 0));
  return { figures, versions: { LiveKit: livekitServerVersion }, notes: [`Seed ${SEED}.`] };
}

/** In the mood `settling`, requests about rooms may be refused. */
type Mood = 'calm' | 'settling';

function createCalls({ client, mediaSecret }: NodeStage, random: Random, report: (line: string) => void) {
  return async (name: string, seconds: number, mood: Mood): Promise<readonly Figure[]> => {
    report(name);
    const signal = AbortSignal.timeout(seconds * 1000);
    const calling = (prefix: string, operations: typeof MEDIA_OPERATIONS) =>
      callUntil(signal, {
        ...callersOn({ client, mediaSecret }, { random, prefix: `${prefix} ${name}` }),
        ...{ operations, callers: CALLERS, pauseMs: PAUSE_MS },
      });
    const [media, stored] = await Promise.all([
      calling('media', MEDIA_OPERATIONS),
      calling('stored', STORED_OPERATIONS),
    ]);
    for (const line of [...unexpectedLines(media), ...unexpectedLines(stored)]) report(line);
    const refused = mediaRefusals(media).length;
    const refusals = `${name}: requests about rooms that were refused`;
    const other = otherFailures(media).length + stored.failures.length;
    const wrong = media.wrongSuccesses.length + stored.wrongSuccesses.length;
    return [
      observed(`${name}: requests`, media.requests + stored.requests),
      mood === 'calm' ? exactly(refusals, refused, 0) : observed(refusals, refused),
      exactly(`${name}: other failures`, other, 0),
      exactly(`${name}: successes that were not true`, wrong, 0),
      observed(`${name}: slowest answer`, Math.round(percentile(media.timesMs, 1)), ' ms'),
    ];
  };
}

function repeated({ receiver }: NodeStage): number {
  return receiver.received.length - new Set(receiver.received.map(({ body }) => body.id)).size;
}

import { createFleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { Random } from '../../test/support/random.ts';
import type { Findings, ProofContext, ProofPart } from '../part.ts';
import { createMediaEvents } from './media-events.ts';
import { playRounds } from './rounds.ts';
import { countUnsettled } from './unsettled.ts';
import { verdict } from './verdict.ts';
import { startWitness } from './witness.ts';

const SEED = 20_260_131;
const WEBHOOKS = 10;
const EVENTS_PER_ROUND = 50;
const KILLS = { long: 20, short: 3 } as const;

export const chaosSqlite: ProofPart = {
  name: 'chaos-sqlite',
  title: 'Kills while deliveries are under way, on SQLite',
  claim:
    'An event that was answered 200 reaches every webhook, whatever kills the service. A kill repeats no more than what was in ' +
    'flight and one batch of outcomes that was not stored yet.',
  attack: [
    `One process of the service, its SQLite file, ${WEBHOOKS} webhooks. A stand-in for the media server posts ` +
      `${EVENTS_PER_ROUND} signed events a round, and each again until it is answered 200, as LiveKit does. In every round, ` +
      'after a number of arrivals that a seed chooses, the process gets SIGKILL and is started again on its file. ' +
      'The receiver computes both signatures of each request anew from their specifications, and counts.',
  ],
  notClaimed: [
    'Exactly once: a receiver keeps the ids of events that it has handled.',
    'That the disk keeps what it was told to keep: no power failure is simulated. SQLite runs with synchronous=full.',
    'Order: retries and the deliveries of a killed process come later than others of their room.',
  ],
  run: killOnSqlite,
};

async function killOnSqlite({ form, say, cleanUp }: ProofContext): Promise<Findings> {
  const fleet = await createFleet();
  cleanUp(fleet.close);
  const living: FleetInstance[] = [await fleet.start()];
  const random = new Random(SEED);
  const witness = await startWitness({ fleet, instance: onlyOne(living), webhooks: WEBHOOKS });
  cleanUp(witness.close);
  const events = createMediaEvents(() => living, random);
  cleanUp(events.close);
  const kill = async (): Promise<void> => {
    await living.pop()?.kill();
    living.push(await fleet.start());
  };
  const faults = Array.from({ length: KILLS[form] }, () => kill);
  await playRounds({ witness, events, random, eventsPerRound: EVENTS_PER_ROUND, faults, say });
  const unsettled = await countUnsettled(fleet, onlyOne(living));
  return {
    figures: verdict({ witness, events, stops: faults.length, unsettled }),
    versions: { SQLite: process.versions.sqlite ?? '' },
    notes: [`Seed ${SEED}.`],
  };
}

function onlyOne([instance]: readonly FleetInstance[]): FleetInstance {
  if (instance === undefined) throw new Error('no instance lives');
  return instance;
}

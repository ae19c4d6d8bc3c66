import { createFleet, type FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { Random } from '../../../test/support/random.ts';
import type { Findings, ProofContext, ProofPart } from '../../part.ts';
import { countUndelivered, createMediaEvents, playRounds, startWitness, verdict } from './witness.ts';

const SEED = 20_260_131;
const WEBHOOKS = 10;
const ORDERED = 2;
const ENDS_PER_ROUND = 14;
const ROOMS_PER_ROUND = 2;
const KILLS = { long: 20, short: 3 } as const;

export const chaosSqlite: ProofPart = {
  name: 'chaos-sqlite',
  title: 'The service on SQLite is killed during deliveries',
  claim:
    'An event that the service answered with 200 reaches every webhook, even if the service is killed at any moment, and the webhooks that ' +
    'ask for order get the events of each room in order. A kill repeats at most the deliveries that were in flight and one batch of ' +
    'outcomes that were not yet stored.',
  attack: [
    `One process of the service runs on a SQLite file with ${WEBHOOKS} webhooks, of which ${ORDERED} ask for the order of each room ` +
      '(`"ordering": "room"`). In each round a stand-in for the media server posts the signed events of ' +
      `${ROOMS_PER_ROUND} whole rooms of five people and of ${ENDS_PER_ROUND} further rooms, and repeats each one until it is answered with ` +
      '200, as LiveKit does. In every third round all webhooks refuse the first request of one of the rooms. In every round the process ' +
      'gets SIGKILL after a seeded number of arrivals, and is started again on its file. ' +
      'The receiver counts the deliveries and computes both signatures of each from their specifications.',
  ],
  notClaimed: [
    'Exactly-once delivery: a receiver has to remember the ids of the events that it handled.',
    'Power failures: the disk keeps what was written to it here. SQLite runs with synchronous=full.',
    'Receivers that refuse an event four times: its delivery then fails for good, until somebody replays it.',
    'Order at the other webhooks: retries, and the deliveries of a killed process, arrive after later events of their room.',
  ],
  run: killOnSqlite,
};

async function killOnSqlite({ form, report, cleanUp }: ProofContext): Promise<Findings> {
  const fleet = await createFleet();
  cleanUp(fleet.close);
  const living: FleetInstance[] = [await fleet.start()];
  const random = new Random(SEED);
  const witness = await startWitness({
    fleet,
    instance: onlyOne(living),
    webhooks: WEBHOOKS,
    ordered: ORDERED,
  });
  cleanUp(witness.close);
  const events = createMediaEvents(() => living, random);
  cleanUp(events.close);
  const kill = async (): Promise<void> => {
    await living.pop()?.kill();
    living.push(await fleet.start());
  };
  const faults = Array.from({ length: KILLS[form] }, () => kill);
  const perRound = { endsPerRound: ENDS_PER_ROUND, roomsPerRound: ROOMS_PER_ROUND };
  await playRounds({ witness, events, random, ...perRound, faults, report });
  const unsettled = await countUndelivered(fleet, onlyOne(living));
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

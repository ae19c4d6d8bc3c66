import { createFleet, type FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import {
  countUndelivered,
  createMediaEvents,
  playRounds,
  startDeliveryObserver,
  verdict,
} from './delivery-observer.ts';

const SEED = 20_260_131;
const WEBHOOKS = 10;
const ORDERED = 2;
const ENDS_PER_ROUND = 14;
const ROOMS_PER_ROUND = 2;
const KILLS = { long: 20, short: 3 } as const;

export const chaosSqlite: Experiment = {
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

async function killOnSqlite({ runSize, report, cleanUp }: ExperimentContext): Promise<Findings> {
  const fleet = await createFleet();
  cleanUp(fleet.close);
  const running: FleetInstance[] = [await fleet.start()];
  const random = new Random(SEED);
  const observer = await startDeliveryObserver({
    fleet,
    instance: onlyOne(running),
    webhooks: WEBHOOKS,
    ordered: ORDERED,
  });
  cleanUp(observer.close);
  const events = createMediaEvents(() => running, random);
  cleanUp(events.close);
  const kill = async (): Promise<void> => {
    await running.pop()?.kill();
    running.push(await fleet.start());
  };
  const faults = Array.from({ length: KILLS[runSize] }, () => kill);
  const perRound = { endsPerRound: ENDS_PER_ROUND, roomsPerRound: ROOMS_PER_ROUND };
  await playRounds({ observer, events, random, ...perRound, faults, report });
  const unsettled = await countUndelivered(fleet, onlyOne(running));
  return {
    figures: verdict({ observer, events, stops: faults.length, unsettled }),
    versions: { SQLite: process.versions.sqlite ?? '' },
    notes: [`Seed ${SEED}.`],
  };
}

function onlyOne([instance]: readonly FleetInstance[]): FleetInstance {
  if (instance === undefined) throw new Error('no instance lives');
  return instance;
}

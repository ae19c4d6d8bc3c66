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
export const chaosSqlite: Experiment = { name: 'chaos-sqlite', run: killOnSqlite };

async function killOnSqlite({ runSize, report, cleanUp }: ExperimentContext): Promise<Findings> {
  const fleet = cleanUp(await createFleet());
  const running: FleetInstance[] = [await fleet.start()];
  const random = new Random(SEED);
  const observer = cleanUp(
    await startDeliveryObserver({ fleet, instance: onlyOne(running), webhooks: WEBHOOKS, ordered: ORDERED }),
  );
  const events = cleanUp(createMediaEvents(() => running, random));
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
  if (instance === undefined) throw new Error('no instance is running');
  return instance;
}

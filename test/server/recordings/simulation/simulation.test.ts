import { describe, expect, it } from 'vitest';
import { isOver } from '../../../../src/server/recordings/lifecycle.ts';
import { type Simulation, simulate } from './simulate.ts';

/*
 * `SIMULATIONS=100000 SIMULATION_FROM=1 vitest run test/server/recordings/simulation` runs more of them. A failure names
 * its seed; SIMULATIONS=1 runs it alone.
 */
const FIRST = Number(process.env.SIMULATION_FROM ?? 1);
const SEEDS = Number(process.env.SIMULATIONS ?? 2000);

describe('recordings of two instances in every order, after all faults have ended', () => {
  it('leave no recorder without a row, no row without a recorder, and no end unpublished', async () => {
    const failed: string[] = [];
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const wrong = wrongIn(await simulate(seed));
      if (wrong.length > 0) failed.push(`seed ${seed}: ${wrong.join('; ')}`);
    }
    expect(failed).toEqual([]);
  });
});

function wrongIn({ database, recorders, violations }: Simulation): readonly string[] {
  const rows = [...database.rows.values()];
  const running = recorders.recorders.filter(({ egress, isAlive }) => isAlive && !isOver(egress));
  const orphans = running.filter(({ egress }) => database.rowOf(egress.egressId)?.status !== 'recording');
  const dead = rows.filter(
    ({ egressId, status }) =>
      status === 'recording' && !running.some(({ egress }) => egress.egressId === egressId),
  );
  const open = rows.filter(({ status }) => status === 'starting');
  const pending = rows.filter(({ status, endedAt }) => status === 'stopped' && endedAt === null);
  const untrue = recorders.recorders.filter(({ egress }) => {
    const row = database.rowOf(egress.egressId);
    return egress.status === 'EGRESS_COMPLETE' && row !== undefined && row.status !== 'stopped';
  });
  return [
    ...new Set(violations),
    ...orphans.map(({ egress }) => `${egress.egressId} runs and is nobody's`),
    ...dead.map(({ id }) => `${id} is recording, and nothing records`),
    ...open.map(({ id }) => `${id} is starting for ever`),
    ...pending.map(({ id }) => `${id} was stopped, and its end is not known`),
    ...untrue.map(({ egress }) => `${egress.egressId} is complete, and its row says otherwise`),
  ];
}

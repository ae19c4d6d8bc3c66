import { isOver } from '../../../../src/server/recordings/lifecycle.ts';
import { endSourceId } from '../../../../src/server/recordings/recording-events.ts';
import type { Simulation } from './simulate.ts';

/** Describes the rules that are broken after all faults have ended. */
export function wrongIn({ database, recorders, violations }: Simulation): readonly string[] {
  const rows = [...database.rows.values()];
  const running = recorders.recorders.filter(({ egress, isAlive }) => isAlive && !isOver(egress));
  const orphans = running.filter(({ egress }) => database.toRow(egress.egressId)?.status !== 'recording');
  const dead = rows.filter(
    ({ egressId, status }) =>
      status === 'recording' && !running.some(({ egress }) => egress.egressId === egressId),
  );
  const open = rows.filter(({ status }) => status === 'starting');
  const pending = rows.filter(({ status, endedAt }) => status === 'stopped' && endedAt === null);
  const untrue = recorders.recorders.filter(({ egress }) => {
    const row = database.toRow(egress.egressId);
    return egress.status === 'EGRESS_COMPLETE' && row !== undefined && row.status !== 'stopped';
  });
  const unpublished = rows.filter(
    (row) => row.egressId !== null && row.endedAt !== null && !database.publishedEnds.has(endSourceId(row)),
  );
  return [
    ...new Set(violations),
    ...orphans.map(({ egress }) => `${egress.egressId} runs and is nobody's`),
    ...dead.map(({ id }) => `${id} is recording, and nothing records`),
    ...open.map(({ id }) => `${id} is starting for ever`),
    ...pending.map(({ id }) => `${id} was stopped, and its end is not known`),
    ...unpublished.map(({ id }) => `${id} has ended, and its end is not published`),
    ...untrue.map(({ egress }) => `${egress.egressId} is complete, and its row says otherwise`),
  ];
}

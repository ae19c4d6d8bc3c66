import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import { computeFigures, type Presence, type SessionFigures } from './session-figures.ts';

/** Connections that are read in one step: on SQLite nothing else runs during a step. */
const ROWS_AT_ONCE = 5_000;

type FigureQuery = { readonly sids: readonly string[]; readonly now: number };
type Row = Presence & { readonly roomSid: string };

/** Reads the figures of several sessions, by their sids. A session without participants is not in the map. */
export async function readFigures(
  connection: Connection,
  { sids, now }: FigureQuery,
): Promise<ReadonlyMap<string, SessionFigures>> {
  const figures = new Map<string, SessionFigures>();
  for (const chunk of await splitIntoChunks(connection, sids)) {
    const connections = new Map<string, Presence[]>();
    for (const row of await readConnections(connection, chunk)) {
      const ofRoom = connections.get(row.roomSid);
      if (ofRoom === undefined) connections.set(row.roomSid, [row]);
      else ofRoom.push(row);
    }
    for (const [sid, ofRoom] of connections) {
      const known = computeFigures(ofRoom, now);
      if (known !== undefined) figures.set(sid, known);
    }
    await setImmediate();
  }
  return figures;
}

/** Splits the sids into chunks that each have ROWS_AT_ONCE connections, or one session. */
async function splitIntoChunks(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (sids.length === 0) return [];
  const { rows } = await sql<{ roomSid: string; count: number }>`
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} group by "roomSid"`.execute(db);
  const chunks: string[][] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const { roomSid, count } of rows) {
    taken += count;
    if (taken > ROWS_AT_ONCE) {
      chunks.push([]);
      taken = count;
    }
    chunks.at(-1)?.push(roomSid);
  }
  return chunks;
}

async function readConnections(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select "roomSid", identity, "joinedAt", "leftAt" from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} and role = 'participant' and "joinedAt" is not null
    order by "joinedAt"`.execute(db);
  return rows;
}

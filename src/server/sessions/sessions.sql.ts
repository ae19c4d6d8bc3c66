import { type RawBuilder, sql } from 'kysely';
import { PROBE_ROOM_PREFIX } from '../../contract/probe-rooms.ts';
import type { RoomSession } from '../events/store.ts';
import type { Connection } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import { readFigures } from './session-figures.sql.ts';
import type {
  ConnectionQuery,
  ParticipantConnection,
  SessionQuery,
  SessionRow,
  SessionStore,
} from './store.ts';

export function createSessionStore(connection: Connection): SessionStore {
  return {
    list: (query) => listSessions(connection, query),
    find: async (sid, now) => {
      const found = connection.db.selectFrom('roomSessions').selectAll().where('sid', '=', sanitizeText(sid));
      return (await withFigures(connection, await found.execute(), now))[0];
    },
    listConnections: (query) => listConnections(connection, query),
  };
}

async function listSessions(connection: Connection, query: SessionQuery): Promise<readonly SessionRow[]> {
  const { room, status, since, until, after, limit, now } = query;
  let select = connection.db.selectFrom('roomSessions').selectAll().where(isNoProbe());
  if (room !== undefined) select = select.where('name', '=', sanitizeText(room));
  if (status !== undefined) select = select.where('endedAt', status === 'open' ? 'is' : 'is not', null);
  if (since !== undefined) select = select.where('createdAt', '>=', since);
  if (until !== undefined) select = select.where('createdAt', '<', until);
  if (after !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('createdAt', 'sid'), '<', row.tuple(after.createdAt, after.id)),
    );
  }
  const sessions = await select.orderBy('createdAt', 'desc').orderBy('sid', 'desc').limit(limit).execute();
  return await withFigures(connection, sessions, now);
}

function isNoProbe(): RawBuilder<boolean> {
  return sql<boolean>`substr(name, 1, ${PROBE_ROOM_PREFIX.length}) <> ${PROBE_ROOM_PREFIX}`;
}

async function withFigures(
  connection: Connection,
  sessions: readonly RoomSession[],
  now: number,
): Promise<readonly SessionRow[]> {
  const figures = await readFigures(connection, { sids: sessions.map(({ sid }) => sid), now });
  return sessions.map(({ sid, name, createdAt, startedAt, endedAt }) => {
    const known = figures.get(sid);
    return {
      ...{ sid, name, createdAt, endedAt },
      startedAt: known?.firstJoinedAt ?? startedAt,
      totalParticipants: known?.totalParticipants ?? 0,
      peakParticipants: known?.peakParticipants ?? 0,
      participantMs: known?.participantMs ?? 0,
    };
  });
}

function listConnections(
  { db }: Connection,
  { roomSid, limit, after }: ConnectionQuery,
): Promise<readonly ParticipantConnection[]> {
  let select = db
    .selectFrom('participantSessions')
    .select(['sid', 'identity', 'name', 'accessRole', 'joinedAt', 'leftAt'])
    .where('roomSid', '=', sanitizeText(roomSid))
    .where('role', '=', 'participant')
    .where('joinedAt', 'is not', null)
    .$narrowType<{ joinedAt: number }>();
  if (after !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('joinedAt', 'sid'), '>', row.tuple(after.createdAt, after.id)),
    );
  }
  return select.orderBy('joinedAt').orderBy('sid').limit(limit).execute();
}

import { sql } from 'kysely';
import { columnList } from '../platform/storage/column-list.ts';
import type { Connection, SqlDialect, Statement } from '../platform/storage/engine.ts';
import { TRACK_COLUMNS } from './presence-columns.sql.ts';
import type { PresenceStore, PublishedTrack } from './store.ts';

/** Limits the time for which one deletion makes other writers wait. */
export const ROWS_AT_ONCE = 1000;

type TrackMethods = Pick<PresenceStore, 'findTracks' | 'listPublishedTracks' | 'saveTracks' | 'purgeTracks'>;

export function createTrackQueries(connection: Connection): TrackMethods {
  const { db, dialect } = connection;
  return {
    findTracks: (sids) =>
      db
        .selectFrom('publishedTracks')
        .selectAll()
        .where(sql<boolean>`sid ${dialect.oneOf(sids)}`)
        .execute(),
    listPublishedTracks: (roomSids) =>
      db
        .selectFrom('publishedTracks')
        .selectAll()
        .where(sql<boolean>`"roomSid" ${dialect.oneOf(roomSids)}`)
        .where('unpublishedAt', 'is', null)
        .orderBy('publishedAt')
        .orderBy('sid')
        .execute(),
    saveTracks: (tracks) => saveTracks(connection, tracks),
    purgeTracks: (before, limit) => purgeTracks(connection, before, limit),
  };
}

async function saveTracks({ db, dialect }: Connection, tracks: readonly PublishedTrack[]): Promise<void> {
  if (tracks.length > 0) await savedTracks(dialect, tracks).sql.execute(db);
}

export function savedTracks(dialect: SqlDialect, tracks: readonly PublishedTrack[]): Statement<unknown> {
  const rows = dialect.rows(tracks, {
    sid: 'text',
    participantSid: 'text',
    roomSid: 'text',
    track: 'text',
    publishedAt: 'integer',
    unpublishedAt: 'integer',
  });
  const columns = columnList(TRACK_COLUMNS);
  return {
    name: 'save-tracks',
    // With `where true` SQLite does not take the following `on` for that of a join.
    sql: sql`
      insert into ${sql.table('publishedTracks')} (${columns}) select ${columns} from ${rows} as listed where true
      on conflict (sid) do update set track = excluded.track, "unpublishedAt" = excluded."unpublishedAt"`,
  };
}

async function purgeTracks({ db }: Connection, before: number, limit: number): Promise<number> {
  const tracks = sql.table('publishedTracks');
  const deleted = await sql`
    delete from ${tracks} where sid in (
      select sid from ${tracks} as one where "publishedAt" < ${before} and not exists (
        select 1 from ${sql.table('roomSessions')} as room where room.sid = one."roomSid" and room."endedAt" is null
      ) order by "publishedAt" limit ${limit}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}

/** Deletes tracks of these rooms, at most ROWS_AT_ONCE; returns their number. */
export async function deleteTracks(
  { db, dialect }: Connection,
  roomSids: readonly string[],
): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table('publishedTracks')} where sid in (
      select sid from ${sql.table('publishedTracks')} where "roomSid" ${dialect.oneOf(roomSids)}
      limit ${ROWS_AT_ONCE}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}

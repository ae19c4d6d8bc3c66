import { type RawBuilder, sql } from 'kysely';
import type { LockedName, RowColumns, SqlDialect, Statement } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import { registrationsVersion } from '../webhooks/webhooks.sql.ts';
import { MINUTE_MS, MOST_STARTS } from './event-times.ts';
import type {
  EventContext,
  EventSubjects,
  NewEvent,
  ParticipantSession,
  PublishedTrack,
  RoomSession,
  Starter,
} from './store.ts';

/** The lists are JSON texts. */
type ContextRow = {
  readonly rooms: string;
  readonly participants: string;
  readonly tracks: string;
  readonly counts: string;
  readonly starts: string;
  readonly known: string;
  readonly registrationsVersion: number;
  readonly openFanOuts: number;
};

/** The read sees what was committed before the locks were taken. It reads the rooms that are busy too, and leaves them out. */
export async function lockAndRead(
  { db, dialect, readTogether }: Connection,
  subjects: EventSubjects,
  which: 'all' | 'free',
): Promise<EventContext> {
  const rooms = subjects.rooms.toSorted();
  const locks = rooms.length === 0 ? undefined : dialect.nameLocks;
  const read = contextStatement(dialect, { ...subjects, rooms });
  const statements: readonly Statement<LockedName | ContextRow>[] =
    locks === undefined ? [read] : [locks[which](rooms), read];
  const results = await readTogether(db, statements);
  const [row] = (results.at(-1) ?? []) as readonly ContextRow[];
  if (row === undefined) throw new Error('The context of events has no row');
  const [locked] = (locks === undefined ? [] : results) as readonly (readonly LockedName[])[];
  const free = locked === undefined ? undefined : new Set(locked.map(({ name }) => name));
  return toContext(row, { rooms, free });
}

function toContext(
  row: ContextRow,
  { rooms, free }: { readonly rooms: readonly string[]; readonly free: ReadonlySet<string> | undefined },
): EventContext {
  const sessions = JSON.parse(row.rooms) as readonly RoomSession[];
  const counts = JSON.parse(row.counts) as readonly { readonly roomSid: string; readonly count: number }[];
  const known = JSON.parse(row.known) as readonly Pick<NewEvent, 'sourceId' | 'occurredAt'>[];
  return {
    sessions: sessions.filter(({ sid }) => free?.has(sid) ?? true),
    busy: new Set(free === undefined ? [] : rooms.filter((sid) => !free.has(sid))),
    participants: JSON.parse(row.participants) as readonly ParticipantSession[],
    tracks: JSON.parse(row.tracks) as readonly PublishedTrack[],
    presentCounts: new Map(counts.map(({ roomSid, count }) => [roomSid, count])),
    starts: (JSON.parse(row.starts) as readonly { readonly count: number }[]).map(({ count }) => count),
    knownInstants: new Map(known.map(({ sourceId, occurredAt }) => [sourceId, occurredAt])),
    registrationsVersion: row.registrationsVersion,
    isFanOutOpen: row.openFanOuts > 0,
  };
}

function contextStatement(dialect: SqlDialect, subjects: EventSubjects): Statement<ContextRow> {
  const { rooms, participants, tracks, sourceIds, starters } = subjects;
  const findRows = (
    columns: readonly string[],
    table: string,
    condition: RawBuilder<unknown>,
  ): RawBuilder<string> => dialect.jsonRows(columns, sql`${sql.table(table)} where ${condition}`);
  const counts = sql`(
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(rooms)} and ${isPresent} group by "roomSid"
  ) as counted`;
  return {
    name: 'read-event-context',
    sql: sql<ContextRow>`
      select
        ${findRows(ROOM_COLUMNS, 'roomSessions', sql`sid ${dialect.oneOf(rooms)}`)} as rooms,
        ${findRows(PARTICIPANT_COLUMNS, 'participantSessions', sql`sid ${dialect.oneOf(participants)}`)} as participants,
        ${findRows(TRACK_COLUMNS, 'publishedTracks', sql`sid ${dialect.oneOf(tracks)}`)} as tracks,
        ${dialect.jsonRows(['roomSid', 'count'], counts)} as counts,
        ${dialect.jsonRows(['count'], countStarts(dialect, starters))} as starts,
        ${findRows(['sourceId', 'occurredAt'], 'events', sql`"sourceId" ${dialect.oneOf(sourceIds)}`)} as known,
        ${registrationsVersion} as "registrationsVersion",
        (select count(*) from (select 1 from ${sql.table('fanOuts')} limit 1) as one) as "openFanOuts"`,
  };
}

/**
 * Counts, for each starter, the joins of its identity in its minute, or the tracks that the identity published then. Events
 * tell of MOST_STARTS of each. Every part of the query ends there, so that a loop does not make the count expensive.
 */
function countStarts(dialect: SqlDialect, starters: readonly Starter[]): RawBuilder<unknown> {
  const rows = dialect.rows(
    starters.map((starter, number) => ({ ...starter, number, identity: sanitizeText(starter.identity) })),
    {
      kind: 'text',
      roomSid: 'text',
      identity: 'text',
      participantSid: 'text',
      minute: 'integer',
      number: 'integer',
    },
  );
  return sql`(
    select starter.number, case starter.kind when 'joins' then (${countJoins}) else (${countTracks}) end as count
    from ${rows} as starter order by starter.number
  ) as counted`;
}

const most = sql.lit(MOST_STARTS);

/** The queries below are parts of one that has a row `starter`. */
const isOfIdentity = sql`"roomSid" = starter."roomSid" and identity = starter.identity`;

function isInMinute(column: string): RawBuilder<unknown> {
  const at = sql.ref(column);
  return sql`${at} >= starter.minute and ${at} < starter.minute + ${sql.lit(MINUTE_MS)}`;
}

const countJoins = sql`
  select count(*) from (
    select 1 from "participantSessions" where ${isOfIdentity} and ${isInMinute('joinedAt')}
    and "countsAs" = 'participant' limit ${most}
  ) as joined`;

const tracksOfConnection = sql`
  select 1 from "publishedTracks" where "participantSid" = connection.sid
  and ${isInMinute('publishedAt')} limit ${most}`;

const toldInMinute = sql`
  select sid from "participantSessions" where ${isOfIdentity} and ${isInMinute('joinedAt')}
  and "untoldUntil" is null limit ${most}`;

const lastBeforeMinute = sql`
  select sid from "participantSessions" where ${isOfIdentity} and "joinedAt" < starter.minute
  order by "joinedAt" desc limit 1`;

/** A track may have been published by this connection, by one of the same minute, or by the one before them. */
const connections = sql`
  select starter."participantSid" as sid
  union select sid from (${toldInMinute}) as recent
  union select sid from (${lastBeforeMinute}) as former`;

const countTracks = sql`
  select coalesce(sum((select count(*) from (${tracksOfConnection}) as published)), 0)
  from (${connections}) as connection`;

/**
 * The columns of the records with their types. One that is forgotten does not compile: neither reads nor inserts would have
 * it.
 */
export const ROOM_TYPES: Required<RowColumns<RoomSession>> = {
  sid: 'text',
  name: 'text',
  createdAt: 'integer',
  startedAt: 'integer',
  endedAt: 'integer',
  sequence: 'integer',
  metadata: 'text',
};

export const PARTICIPANT_TYPES: Required<RowColumns<ParticipantSession>> = {
  sid: 'text',
  roomSid: 'text',
  identity: 'text',
  name: 'text',
  countsAs: 'text',
  joinedAt: 'integer',
  leftAt: 'integer',
  metadata: 'text',
  accessRole: 'text',
  untoldUntil: 'integer',
  keyId: 'text',
};

export const TRACK_TYPES: Required<RowColumns<PublishedTrack>> = {
  sid: 'text',
  participantSid: 'text',
  roomSid: 'text',
  track: 'text',
  publishedAt: 'integer',
  unpublishedAt: 'integer',
  untoldUntil: 'integer',
};

export const ROOM_COLUMNS = Object.keys(ROOM_TYPES) as (keyof RoomSession)[];
const PARTICIPANT_COLUMNS = Object.keys(PARTICIPANT_TYPES);
const TRACK_COLUMNS = Object.keys(TRACK_TYPES);

/** Whether a row is a participant who has joined, and may have left. */
export const hasJoined = sql<boolean>`"countsAs" = 'participant' and "joinedAt" is not null`;

/** Whether a row is a participant who has joined and not left. */
export const isPresent = sql<boolean>`${hasJoined} and "leftAt" is null`;

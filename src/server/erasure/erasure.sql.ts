import { sql } from 'kysely';
import { readMembers } from '../../contract/unknown-value.ts';
import { ERASED } from '../../contract/words.ts';
import { sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import type { AuditPlace, ErasureStep, ErasureStore, Person } from './store.ts';

export function createErasureStore(connection: Connection): ErasureStore {
  return {
    eraseEvents: (person, after) => eraseEvents(connection, person, after),
    eraseSpeakers: (person, after) => eraseSpeakers(connection, person, after),
    eraseAuditIds: (person, after) => eraseAuditIds(connection, person, after),
    listBlockedIn: (person, now, limit) => listBlockedIn(connection, person, { now, limit }),
    findLastBlockEnd: (person) => findLastBlockEnd(connection, person),
    eraseConnections: (person, after) => eraseConnections(connection, person, after),
    refreshStatistics: () => refreshStatistics(connection),
  };
}

/** Rows of one step: on SQLite nothing else runs meanwhile. */
const ROWS = 500;

type FoundEvent = {
  readonly position: number;
  readonly id: string;
  readonly payload: string;
  readonly roomSid: string | null;
  readonly createdAt: number;
};

/** Payloads are searched as texts, because PostgreSQL refuses to take apart JSON that contains a NUL. */
function eraseEvents(
  { atomically, dialect }: Connection,
  person: Person,
  after: number,
): Promise<ErasureStep<number>> {
  const ofRoom = person.room === undefined ? sql`1 = 1` : sql`room = ${sanitizeText(person.room)}`;
  const position = sql.raw(dialect.engine === 'SQLite' ? 'instr' : 'strpos');
  const quoted = JSON.stringify(person.identity);
  const hasIdentity = sql.join(
    ['identity', 'participantIdentity'].map(
      (name) => sql`${position}(payload, ${`"${name}":${quoted}`}) > 0`,
    ),
    sql` or `,
  );
  return atomically(async (db) => {
    const { rows: places } = await sql<{ position: number }>`
      select position from events where ${ofRoom} and position > ${after} order by position limit ${ROWS}`.execute(
      db,
    );
    const last = places.at(-1)?.position;
    if (last === undefined) return { erased: 0, next: undefined };
    const { rows: found } = await sql<FoundEvent>`
      select position, id, payload, "roomSid", "createdAt" from events
      where ${ofRoom} and position > ${after} and position <= ${last} and (${hasIdentity})`.execute(db);
    const sids = found.flatMap(({ roomSid }) => roomSid ?? []);
    const pseudonyms = await readPseudonyms({ db, dialect }, person, sids);
    const erased: FoundEvent[] = [];
    for (const event of found) {
      const payload = erasePayload(event, person.identity, pseudonyms);
      if (payload === undefined) continue;
      erased.push(event);
      await db.updateTable('events').set({ payload }).where('position', '=', event.position).execute();
    }
    await eraseResponses({ db, dialect }, erased);
    return { erased: erased.length, next: places.length === ROWS ? last : undefined };
  });
}

type Database = Pick<Connection, 'db' | 'dialect'>;

/**
 * Deliveries are created at the instant of their event, and are found by it, webhook by webhook. The last value of each
 * attempt in a log is the response.
 */
async function eraseResponses({ db, dialect }: Database, events: readonly FoundEvent[]): Promise<void> {
  if (events.length === 0) return;
  const isOf = sql`"createdAt" ${dialect.oneOf([...new Set(events.map(({ createdAt }) => createdAt))])}
    and "eventId" ${dialect.oneOf(events.map(({ id }) => id))}`;
  const { rows: webhooks } = await sql<{ id: string }>`
    select id from webhooks union all select id from ${sql.table('deletedWebhooks')}`.execute(db);
  const ofWebhook = sql`"webhookId" ${dialect.oneOf(webhooks.map(({ id }) => id))}`;
  const [withoutResponses, hasResponse] =
    dialect.engine === 'SQLite'
      ? [
          sql`(select json_group_array(json_set(value, '$[#-1]', null)) from json_each(log))`,
          sql`exists (select 1 from json_each(log) where json_extract(value, '$[#-1]') is not null)`,
        ]
      : [
          sql`(
            select jsonb_agg(jsonb_set(attempt, '{-1}', 'null') order by place)::text
            from jsonb_array_elements(log::jsonb) with ordinality as one (attempt, place)
          )`,
          sql`log::jsonb @? '$[*][last] ? (@ != null)'`,
        ];
  await sql`
    update deliveries set log = ${withoutResponses} where log is not null and ${hasResponse} and id in (
      select id from deliveries where ${ofWebhook} and state <> 'pending'
        and state in ('delivered', 'failed', 'cancelled') and ${isOf}
      union all
      select id from deliveries where ${ofWebhook} and state = 'pending' and ${isOf}
    )`.execute(db);
}

/** Returns undefined for an event of a session in which the person is, and for one that only looks like the person's. */
function erasePayload(
  { payload, roomSid }: FoundEvent,
  identity: string,
  pseudonyms: ReadonlyMap<string, string | undefined>,
): string | undefined {
  if (roomSid !== null && pseudonyms.has(roomSid) && pseudonyms.get(roomSid) === undefined) return undefined;
  const event = JSON.parse(payload);
  const { participant, ingress, track } = event;
  const ofSession = roomSid === null ? undefined : pseudonyms.get(roomSid);
  if (participant?.identity === identity) {
    const { metadata: _, ...kept } = participant;
    event.participant = { ...kept, identity: ofSession ?? toPseudonym(kept.sid), name: '' };
    if (track?.name) event.track = { ...track, name: '' };
  } else if (ingress?.participantIdentity === identity) {
    event.ingress = { ...ingress, participantIdentity: ofSession ?? ERASED, participantName: '' };
  } else return undefined;
  return JSON.stringify(event);
}

type ConnectionRow = {
  readonly sid: string;
  readonly roomSid: string;
  readonly name: string;
  readonly joinedAt: number | null;
  readonly leftAt: number | null;
};

async function readConnections(
  { db, dialect }: Database,
  { identity }: Person,
  roomSids: readonly string[],
): Promise<readonly ConnectionRow[]> {
  if (roomSids.length === 0) return [];
  const { rows } = await sql<ConnectionRow>`
    select sid, "roomSid", name, "joinedAt", "leftAt" from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf([...new Set(roomSids)])} and identity = ${sanitizeText(identity)}
    order by coalesce("joinedAt", "leftAt", 0), sid`.execute(db);
  return rows;
}

/** Maps each session that has the person to the pseudonym; to undefined when the person is in it now. */
async function readPseudonyms(
  database: Database,
  person: Person,
  roomSids: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const pseudonyms = new Map<string, string | undefined>();
  const present = new Set<string>();
  for (const one of await readConnections(database, person, roomSids)) {
    if (!pseudonyms.has(one.roomSid)) pseudonyms.set(one.roomSid, toPseudonym(one.sid));
    if (isPresent(one)) present.add(one.roomSid);
  }
  for (const roomSid of present) pseudonyms.set(roomSid, undefined);
  return pseudonyms;
}

function isPresent({ joinedAt, leftAt }: ConnectionRow): boolean {
  return joinedAt !== null && leftAt === null;
}

function toPseudonym(sid: string): string {
  return `${ERASED}-${sid.replace(/^PA_/, '')}`;
}

type NamedTrack = { readonly trackId: string | null; readonly name: string | null };

type SpeakersRow = {
  readonly id: string;
  readonly speakers: string;
  readonly roomSid: string | null;
  readonly recordingId: string | null;
};

/** A map has names by identity or by track, or of everybody who is heard: an entry with a name of the person goes too. */
function eraseSpeakers(
  { atomically, dialect }: Connection,
  person: Person,
  after: string,
): Promise<ErasureStep<string>> {
  const ofRoom = person.room === undefined ? sql`1 = 1` : sql`room = ${sanitizeText(person.room)}`;
  return atomically(async (db) => {
    const { rows } = await sql<SpeakersRow>`
      select id, speakers, "roomSid", "recordingId" from transcriptions
      where ${ofRoom} and id > ${after} order by id limit ${ROWS} ${dialect.lockRows}`.execute(db);
    let erased = 0;
    for (const row of rows.filter(({ speakers }) => speakers !== '{}')) {
      const { tracks, names } = await readVoice({ db, dialect }, person, row);
      const entries = Object.entries(JSON.parse(row.speakers) as Readonly<Record<string, string>>);
      const kept = entries.filter(
        ([key, name]) => key !== person.identity && !tracks.has(key) && !names.has(name),
      );
      if (kept.length === entries.length) continue;
      erased += entries.length - kept.length;
      const speakers = JSON.stringify(Object.fromEntries(kept));
      await db.updateTable('transcriptions').set({ speakers }).where('id', '=', row.id).execute();
    }
    return { erased, next: rows.length === ROWS ? rows.at(-1)?.id : undefined };
  });
}

/** Reads by which tracks and names a transcription knows the person. */
async function readVoice(database: Database, person: Person, { id, roomSid, recordingId }: SpeakersRow) {
  const { db, dialect } = database;
  const identity = sanitizeText(person.identity);
  const connections = roomSid === null ? [] : await readConnections(database, person, [roomSid]);
  const { rows } = await sql<NamedTrack>`
    select distinct "trackId", name from segments where "transcriptionId" = ${id} and identity = ${identity}
    union select "trackId", name from turns where "recordingId" = ${recordingId} and identity = ${identity}
    union select sid, null from ${sql.table('publishedTracks')} where "roomSid" = ${roomSid}
      and "participantSid" ${dialect.oneOf(connections.map(({ sid }) => sid))}`.execute(db);
  const names = [...rows, ...connections].map(({ name }) => name ?? '').filter((name) => name !== '');
  return { tracks: new Set(rows.map(({ trackId }) => trackId)), names: new Set(names) };
}

type AuditIds = AuditPlace & { readonly ids: string };

function eraseAuditIds(
  { atomically }: Connection,
  { identity, room }: Person,
  after: AuditPlace,
): Promise<ErasureStep<AuditPlace>> {
  const ofRoom = room === undefined ? sql`1 = 1` : sql`room = ${sanitizeText(room)}`;
  return atomically(async (db) => {
    const { rows } = await sql<AuditIds>`
      select "occurredAt", id, ids from ${sql.table('auditEntries')}
      where ${ofRoom} and ("occurredAt", id) > (${after.occurredAt}, ${after.id})
      order by "occurredAt", id limit ${ROWS}`.execute(db);
    let erased = 0;
    for (const { id, ids } of rows) {
      const known = JSON.parse(ids) as Readonly<Record<string, string>>;
      if (known.participantId !== sanitizeText(identity)) continue;
      erased += 1;
      const changed = JSON.stringify({ ...known, participantId: ERASED });
      await db.updateTable('auditEntries').set({ ids: changed }).where('id', '=', id).execute();
    }
    return { erased, next: rows.length === ROWS ? rows.at(-1) : undefined };
  });
}

async function listBlockedIn(
  { db }: Connection,
  { identity, room }: Person,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly string[]> {
  const ofRoom = room === undefined ? sql`1 = 1` : sql`room = ${room}`;
  const { rows } = await sql<{ room: string }>`
    select room from blocks where identity = ${identity} and ${ofRoom}
      and ("blockedUntil" is null or "blockedUntil" > ${now}) limit ${limit}`.execute(db);
  return rows.map((row) => row.room);
}

/** The row of a block that was lifted has the instant as its creation. */
async function findLastBlockEnd({ db }: Connection, { identity, room }: Person): Promise<number | undefined> {
  const ofRoom = room === undefined ? sql`1 = 1` : sql`room = ${room}`;
  const { rows } = await sql<{ endedAt: number | null }>`
    select max(case when "createdAt" > "blockedUntil" then "createdAt" else "blockedUntil" end) as "endedAt"
    from blocks where identity = ${identity} and ${ofRoom} and "blockedUntil" is not null`.execute(db);
  const endedAt = rows[0]?.endedAt ?? null;
  return endedAt === null ? undefined : Number(endedAt);
}

type Sessions = ErasureStep<string> & { readonly present: number };

async function eraseConnections(connection: Connection, person: Person, after: string): Promise<Sessions> {
  const { sids, next } = await listSessions(connection, person, after);
  let erased = 0;
  let present = 0;
  for (const roomSid of sids) {
    const count = await eraseSession(connection, person, roomSid);
    if (count === 'present') present += 1;
    else erased += count;
  }
  return { erased, present, next };
}

/** Lists the sessions of a room; for all rooms, those with connections of the person, also where no event opened a session. */
async function listSessions({ db }: Connection, { identity, room }: Person, after: string) {
  if (room !== undefined) {
    const { rows } = await sql<{ sid: string }>`
      select sid from ${sql.table('roomSessions')}
      where name = ${sanitizeText(room)} and sid > ${after} order by sid limit ${ROWS}`.execute(db);
    const sids = rows.map(({ sid }) => sid);
    return { sids, next: sids.length === ROWS ? sids.at(-1) : undefined };
  }
  const { rows: places } = await sql<{ sid: string }>`
    select sid from ${sql.table('participantSessions')} where sid > ${after} order by sid limit ${ROWS}`.execute(
    db,
  );
  const last = places.at(-1)?.sid ?? after;
  const { rows } = await sql<{ roomSid: string }>`
    select distinct "roomSid" from ${sql.table('participantSessions')}
    where sid > ${after} and sid <= ${last} and identity = ${sanitizeText(identity)}`.execute(db);
  return { sids: rows.map(({ roomSid }) => roomSid), next: places.length === ROWS ? last : undefined };
}

/** Locks the session like everything that changes presence, and erases all of it at once, so that nobody counts twice. */
function eraseSession(
  { atomically, dialect }: Connection,
  person: Person,
  roomSid: string,
): Promise<number | 'present'> {
  return atomically(async (db) => {
    await dialect.nameLocks?.all([roomSid]).sql.execute(db);
    const connections = await readConnections({ db, dialect }, person, [roomSid]);
    const [first] = connections;
    if (first === undefined) return 0;
    if (connections.some(isPresent)) return 'present';
    const sids = connections.map(({ sid }) => sid);
    const { rows: tracks } = await sql<{ sid: string; track: string }>`
      select sid, track from ${sql.table('publishedTracks')}
      where "roomSid" = ${roomSid} and "participantSid" ${dialect.oneOf(sids)}`.execute(db);
    for (const { sid, track } of tracks.filter((one) => Boolean(readMembers(JSON.parse(one.track)).name))) {
      const changed = JSON.stringify({ ...JSON.parse(track), name: '' });
      await db.updateTable('publishedTracks').set({ track: changed }).where('sid', '=', sid).execute();
    }
    await sql`
      update ${sql.table('participantSessions')} set identity = ${toPseudonym(first.sid)}, name = '', metadata = null
      where sid ${dialect.oneOf(sids)}`.execute(db);
    return sids.length;
  });
}

/** Tables with columns that had the person; see docs/privacy.md. */
const SAMPLED = [
  ...['events', 'participantSessions', 'publishedTracks', 'transcriptions', 'segments', 'turns'],
  ...['auditEntries', 'blocks', 'deliveries'],
];

async function refreshStatistics({ db, dialect }: Connection): Promise<void> {
  if (dialect.engine === 'SQLite') return;
  for (const table of SAMPLED) await sql`analyze ${sql.table(table)}`.execute(db);
}

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { RoomPrefixes } from '../../../contract/keys.ts';
import { beginsWith, columnList, purgeRows } from '../../platform/storage/statements.ts';
import type { Connection, Tables } from '../../schema/tables.ts';
import { nextChange, readChanges } from '../room-records.sql.ts';
import type {
  PlannedPresence,
  PlannedRoom,
  PlannedRoomStore,
  PlannedStart,
  PlannedStartStore,
  PlanRecord,
  PlanStore,
} from '../store.ts';

type Database = Kysely<Tables>;

const RECORD = {
  subject: 'text',
  id: 'text',
  settings: 'text',
  createdAt: 'integer',
  updatedAt: 'integer',
  deletedAt: 'integer',
  createdBy: 'text',
} as const satisfies Record<keyof PlanRecord, 'text' | 'integer'>;

const PLAN = { ...RECORD, changeNumber: 'integer' } as const;

const PLAN_COLUMNS = Object.keys(RECORD) as (keyof PlanRecord)[];

export function createPlanStore({ db, dialect, changes, atomically }: Connection): PlanStore {
  const lasting = (rooms?: RoomPrefixes) => {
    const select = db.selectFrom('plans').select(PLAN_COLUMNS).where('deletedAt', 'is', null);
    return rooms === undefined ? select : select.where(isWithin(rooms));
  };
  return {
    find: ({ subject }) => lasting().where('subject', '=', subject).executeTakeFirst(),
    findById: (id, rooms) => lasting(rooms).where('id', '=', id).executeTakeFirst(),
    findAll: (subjects) =>
      lasting()
        .where(sql<boolean>`subject ${dialect.oneOf(subjects)}`)
        .execute(),
    list: ({ after, limit, rooms }) => {
      const select = lasting(rooms).orderBy('id').limit(limit);
      return (after === undefined ? select : select.where('id', '>', after)).execute();
    },
    listLasting: ({ after, limit }) => {
      const select = after === undefined ? lasting() : lasting().where('subject', '>', after.subject);
      return select.orderBy('subject').limit(limit).execute();
    },
    ...readChanges(db, 'plans', PLAN_COLUMNS),
    count: () => readCount(db, sql`select count(*) as count from plans where "deletedAt" is null`),
    countOfKey: (keyId) => readCount(db, countOfKey(keyId)),
    lock: async () => {
      await nextChange(db, 'plans');
    },
    save: (plan, limit) =>
      atomically(async (within) => {
        const isSaved = await savePlan({ db: within, dialect }, plan, limit);
        if (isSaved) changes.note(within, 'plans');
        return isSaved;
      }),
    end: (id, now, rooms) =>
      atomically(async (within) => {
        const ended = await endPlan(within, { id, now, rooms });
        if (ended !== undefined) changes.note(within, 'plans');
        return ended;
      }),
    purge: (before, limit) =>
      purgeRows(db, { table: 'plans', key: ['subject'], where: sql`"deletedAt" <= ${before}`, limit }),
  };
}

/** The subjects of rooms and prefixes that begin so, by the primary key. */
function isWithin(rooms: RoomPrefixes) {
  const beginnings = rooms.flatMap((prefix) => [`=${prefix}`, `^${prefix}`]);
  return beginsWith(sql`subject`, beginnings);
}

/**
 * A key may only give a subject of its own rooms. That the plan replaces no other one is part of the statement, so that
 * nobody's plan is overwritten, whatever was read before. The lock of nextChange also lets instances count one after the
 * other.
 */
async function savePlan(
  { db, dialect }: Statements,
  { id, ...plan }: PlanRecord,
  limit: number,
): Promise<boolean> {
  const changeNumber = await nextChange(db, 'plans');
  const row = { ...plan, id, changeNumber };
  const columns = columnList(Object.keys(PLAN));
  const { rows } = await sql`
    insert into plans (${columns}) select ${columns} from ${dialect.rows([row], PLAN)} as listed
    where not exists (
      select 1 from plans where id = ${id} and "deletedAt" is null and subject <> ${plan.subject})
      and (${countOfKey(plan.createdBy)}) < ${limit}
    on conflict (subject) do update set id = excluded.id, settings = excluded.settings,
      "createdAt" = excluded."createdAt", "updatedAt" = excluded."updatedAt",
      "deletedAt" = excluded."deletedAt", "changeNumber" = excluded."changeNumber",
      "createdBy" = excluded."createdBy"
      where plans.id = excluded.id or plans."deletedAt" is not null
    returning subject`.execute(db);
  return rows.length > 0;
}

type Ending = { readonly id: string; readonly now: number; readonly rooms: RoomPrefixes | undefined };

async function endPlan(db: Database, { id, now, rooms }: Ending): Promise<PlanRecord | undefined> {
  const changeNumber = await nextChange(db, 'plans');
  const plan = db.updateTable('plans').set({ deletedAt: now, changeNumber }).where('id', '=', id);
  const own = rooms === undefined ? plan : plan.where(isWithin(rooms));
  return await own.where('deletedAt', 'is', null).returning(PLAN_COLUMNS).executeTakeFirst();
}

function countOfKey(keyId: string) {
  return sql<Counted>`select count(*) as count from plans where "createdBy" = ${keyId} and "deletedAt" is null`;
}

type Counted = { readonly count: number };

async function readCount(db: Database, count: RawBuilder<Counted>): Promise<number> {
  return Number((await count.execute(db)).rows[0]?.count);
}

const ROOM = {
  sid: 'text',
  room: 'text',
  createdAt: 'integer',
  startedAt: 'integer',
  aloneSince: 'integer',
  closesAt: 'integer',
  warnedAt: 'integer',
  closeReason: 'text',
  dueAt: 'integer',
  triggeredAt: 'integer',
} as const satisfies Record<keyof PlannedRoom, 'text' | 'integer'>;

const ROOM_COLUMNS = Object.keys(ROOM) as readonly (keyof PlannedRoom)[];

/** Unix milliseconds in far future, for the earlier one of two instants of which both may be missing. */
const NEVER = sql.lit(9_007_199_254_740_991);

const NOTHING_DONE = { closesAt: null, warnedAt: null, closeReason: null, triggeredAt: null };

export function createPlannedRoomStore({ db, dialect, changes, atomically }: Connection): PlannedRoomStore {
  return {
    note: (presence) =>
      atomically(async (within) => {
        // Others know of an earlier instant already.
        if (await notePresence(within, presence)) changes.note(within, 'plannedRooms');
      }),
    trigger: (sid, now) =>
      atomically(async (within) => {
        const waiting = within.updateTable('plannedRooms').set({ dueAt: now }).where('sid', '=', sid);
        const { numUpdatedRows } = await waiting
          .where('triggeredAt', 'is', null)
          .where('closeReason', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows > 0n) changes.note(within, 'plannedRooms');
      }),
    end: async (sids) => {
      const among = sql<boolean>`sid ${dialect.oneOf(sids)}`;
      const ended = await db.deleteFrom('plannedRooms').where(among).returning(ROOM_COLUMNS).execute();
      if (ended.length > 0) await db.deleteFrom('plannedStarts').where(among).execute();
      return ended;
    },
    markDue: (subjects, now) =>
      atomically(async (within) => {
        let count = 0;
        for (const subject of subjects) count += await markDue(within, subject, now);
        if (count > 0) changes.note(within, 'plannedRooms');
        return count;
      }),
    claim: (claim) => claimRooms({ db, dialect }, claim),
    renew: async (rooms, { from, to }) => {
      const claimed = db.updateTable('plannedRooms').set({ dueAt: to }).where('dueAt', '=', from);
      await claimed.where(sql<boolean>`sid ${dialect.oneOf(rooms.map(({ sid }) => sid))}`).execute();
    },
    settle: (rooms, until) => settleRooms({ db, dialect }, rooms, until),
    noteClosing: (closing) => noteClosing({ db, dialect }, closing),
    forgetAlone: async (sid) => {
      await db.updateTable('plannedRooms').set({ aloneSince: null }).where('sid', '=', sid).execute();
    },
    nextDueAt: () => readNextDueAt(db, 'plannedRooms'),
    listUnplanned: (after, limit) => listUnplanned(db, after, limit),
    purge: (before) => purgeRooms(db, before),
  };
}

async function purgeRooms(db: Connection['db'], before: number): Promise<void> {
  const open = sql`select 1 from "roomSessions" where "roomSessions".sid = "plannedRooms".sid and "endedAt" is null`;
  const old = db.deleteFrom('plannedRooms').where('createdAt', '<', before);
  await old.where(sql<boolean>`not exists (${open})`).execute();
  const planned = sql`select 1 from "plannedRooms" where "plannedRooms".sid = "plannedStarts".sid`;
  await db.deleteFrom('plannedStarts').where(sql<boolean>`not exists (${planned})`).execute();
}

export function createPlannedStartStore(connection: Connection): PlannedStartStore {
  const { db, dialect, changes, atomically } = connection;
  return {
    add: (starts, now) =>
      atomically(async (within) => {
        if (starts.length === 0) return;
        const added = await within
          .insertInto('plannedStarts')
          .values(starts.map((start) => ({ ...start, dueAt: now })))
          .onConflict((conflict) => conflict.columns(['sid', 'starts']).doNothing())
          .executeTakeFirst();
        if ((added.numInsertedOrUpdatedRows ?? 0n) > 0n) changes.note(within, 'plannedStarts');
      }),
    findTriggers: async (sids) => {
      const among = sql<boolean>`"roomSid" ${dialect.oneOf(sids)}`;
      const tracks = db.selectFrom('publishedTracks').select('roomSid').distinct().where(among);
      const hosts = db.selectFrom('participantSessions').select('roomSid').distinct().where(among);
      const [published, hosted] = await Promise.all([
        tracks.execute(),
        hosts.where('accessRole', '=', 'host').where('joinedAt', 'is not', null).execute(),
      ]);
      const toSet = (rows: readonly { readonly roomSid: string }[]) =>
        new Set(rows.map(({ roomSid }) => roomSid));
      return { published: toSet(published), hosted: toSet(hosted) };
    },
    claim: async (claim) => {
      const { rows } = await sql<PlannedStart>`
        update "plannedStarts" set "dueAt" = ${claim.until}
        where (sid, starts) in (select sid, starts from "plannedStarts" where "dueAt" <= ${claim.now}
          order by "dueAt" limit ${claim.limit} ${dialect.lockFreeRows})
        returning sid, starts, room, "dueAt"`.execute(db);
      return rows;
    },
    renew: async (claimed, { from, to }) => {
      for (const { sid, starts } of claimed) {
        const start = db.updateTable('plannedStarts').set({ dueAt: to }).where('sid', '=', sid);
        await start.where('starts', '=', starts).where('dueAt', '=', from).execute();
      }
    },
    settle: async ({ sid, starts }, dueAt) => {
      const start = db.updateTable('plannedStarts').set({ dueAt }).where('sid', '=', sid);
      await start.where('starts', '=', starts).execute();
    },
    remove: async ({ sid, starts }) => {
      await db.deleteFrom('plannedStarts').where('sid', '=', sid).where('starts', '=', starts).execute();
    },
    nextDueAt: () => readNextDueAt(db, 'plannedStarts'),
  };
}

async function readNextDueAt(
  db: Database,
  table: 'plannedRooms' | 'plannedStarts',
): Promise<number | undefined> {
  const first = db.selectFrom(table).select('dueAt').where('dueAt', 'is not', null);
  return (await first.orderBy('dueAt').limit(1).executeTakeFirst())?.dueAt ?? undefined;
}

/** Returns whether the room is due at that instant now, and not before. */
async function notePresence(db: Database, { now, ...presence }: PlannedPresence): Promise<boolean> {
  const saved = await db
    .insertInto('plannedRooms')
    // Due at once: this instance may not know yet how the plan was changed last.
    .values({ ...presence, ...NOTHING_DONE, dueAt: now })
    .onConflict((conflict) =>
      conflict.column('sid').doUpdateSet({
        startedAt: sql`coalesce("plannedRooms"."startedAt", excluded."startedAt")`,
        aloneSince: sql`excluded."aloneSince"`,
        dueAt: earlierDue(presence.dueAt),
      }),
    )
    .returning('dueAt')
    .executeTakeFirst();
  return saved?.dueAt != null && (saved.dueAt === presence.dueAt || saved.dueAt === now);
}

function earlierDue(dueAt: number | null) {
  const present = sql<number | null>`"plannedRooms"."dueAt"`;
  if (dueAt === null) return present;
  return sql<number | null>`case
    when "plannedRooms"."closeReason" is not null or coalesce("plannedRooms"."dueAt", ${NEVER}) < ${dueAt}
    then ${present} else ${dueAt} end`;
}

type Statements = Pick<Connection, 'db' | 'dialect'>;

async function settleRooms(
  { db, dialect }: Statements,
  rooms: readonly PlannedRoom[],
  until: number,
): Promise<void> {
  if (rooms.length === 0) return;
  const settled = dialect.rows(rooms, ROOM);
  // A change that an event has noted since the claim is looked at when the claim ends.
  const isUnchanged = sql`"plannedRooms"."dueAt" = ${until}
    and "plannedRooms"."startedAt" is not distinct from settled."startedAt"
    and "plannedRooms"."aloneSince" is not distinct from settled."aloneSince"`;
  await sql`
    update "plannedRooms" set "closesAt" = settled."closesAt", "warnedAt" = settled."warnedAt",
      "triggeredAt" = case when ${isUnchanged} then settled."triggeredAt" else "plannedRooms"."triggeredAt" end,
      "dueAt" = case when ${isUnchanged} then settled."dueAt" else "plannedRooms"."dueAt" end
    from ${settled} as settled
    where "plannedRooms".sid = settled.sid`.execute(db);
}

async function noteClosing(
  { db, dialect }: Statements,
  closing: Parameters<PlannedRoomStore['noteClosing']>[0],
): Promise<ReadonlySet<string>> {
  if (closing.length === 0) return new Set();
  const { rows } = await sql<{ readonly sid: string }>`
    update "plannedRooms" set "closeReason" = coalesce("plannedRooms"."closeReason", closing."closeReason")
    from ${dialect.rows(closing, { sid: 'text', closeReason: 'text' })} as closing
    where "plannedRooms".sid = closing.sid
    returning "plannedRooms".sid`.execute(db);
  return new Set(rows.map(({ sid }) => sid));
}

type Claim = Parameters<PlannedRoomStore['claim']>[0];

async function claimRooms(
  { db, dialect }: Statements,
  { now, until, limit }: Claim,
): Promise<readonly PlannedRoom[]> {
  const due = sql`select sid from "plannedRooms" where "dueAt" is not null and "dueAt" <= ${now}
    order by "dueAt" limit ${limit} ${dialect.lockFreeRows}`;
  const among = dialect.engine === 'SQLite' ? sql`in (${due})` : sql`= any(array(${due}))`;
  const { rows } = await sql<PlannedRoom>`
    update "plannedRooms" set "dueAt" = ${until} where sid ${among}
    returning ${columnList(ROOM_COLUMNS)}`.execute(db);
  return rows;
}

async function listUnplanned(
  db: Database,
  after: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  // The instance that recorded the first join may not have known the plan that another one had noted the room for.
  const planned = sql`select 1 from "plannedRooms" where "plannedRooms".sid = "roomSessions".sid
    and ("plannedRooms"."startedAt" is not null or "roomSessions"."startedAt" is null)`;
  let open = db
    .selectFrom('roomSessions')
    .select('name')
    .where('endedAt', 'is', null)
    .where(sql<boolean>`not exists (${planned})`);
  if (after !== undefined) open = open.where('name', '>', after);
  return (await open.orderBy('name').limit(limit).execute()).map(({ name }) => name);
}

/** The first character of a subject says whether the rest is the name of a room, or a prefix. */
async function markDue(db: Database, subject: string, now: number): Promise<number> {
  const name = subject.slice(1);
  const isNamed = subject.startsWith('=')
    ? sql`name = ${name}`
    : sql`substr(name, 1, ${[...name].length}) = ${name}`;
  // Somebody who is alone counts from now on.
  const present = sql`select count(*) from "participantSessions" where "roomSid" = "roomSessions".sid
    and "countsAs" = 'participant' and "leftAt" is null and "joinedAt" is not null`;
  const at = sql.lit(now);
  const { rows } = await sql`
    insert into "plannedRooms" (sid, room, "createdAt", "startedAt", "aloneSince", "dueAt")
    select sid, name, "createdAt", "startedAt", case when (${present}) = 1 then ${at} end, ${at} from "roomSessions"
    where "endedAt" is null and ${isNamed}
    on conflict (sid) do update set "dueAt" = excluded."dueAt", "triggeredAt" = null,
      "startedAt" = coalesce("plannedRooms"."startedAt", excluded."startedAt"),
      "aloneSince" = coalesce("plannedRooms"."aloneSince", excluded."aloneSince")
      where "plannedRooms"."closeReason" is null
    returning sid`.execute(db);
  return rows.length;
}

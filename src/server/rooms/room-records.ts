import { hasCode, ServiceError } from '../../contract/errors.ts';
import { isLongerThan, nameFault } from '../../contract/names.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import type {
  ClosedRoom,
  ClosedRoomList,
  ClosedRoomListQuery,
  Room,
  RoomCreate,
} from '../../contract/rooms.ts';
import { type Clock, toInstant } from '../platform/clock.ts';
import { cursorCodec, type OfRooms, readPage } from '../platform/http/read-page.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { RoomConfig } from '../platform/livekit/token-signer.ts';
import type { Log } from '../platform/log.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import { type FindRow, openRowCache, type RowCache } from '../platform/storage/row-cache.ts';
import { decideEntry } from './entry.ts';
import type { RoomKey, RoomRecord, RoomRecordStore, RoomSettingsKept } from './store.ts';

/*
 * Remembers by the names of rooms the settings that a room was opened with, and whether it is closed. The
 * media server forgets both with the end of the room, and opens a new one for whoever joins.
 */

export type RecordDeps = {
  readonly store: { readonly rooms: RoomRecordStore };
  /** The store's clock, so that a room opens again on all instances at once. */
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
};

/** How long settings are remembered after the last POST /v1/rooms. */
const REMEMBERED_MS = 30 * 86_400_000;

/** Settings are not stored again before this time has passed, unless they differ. */
const REFRESHED_MS = 86_400_000;

/** The settings of at most this many rooms are kept. The rooms that were opened longest ago are forgotten first. */
const MAX_REMEMBERED = 100_000;

/** A caller who needs more rooms that never open again can leave them without tokens instead. */
const MAX_CLOSED_ROOMS = 100_000;

/** Clients and proxies limit the length of a token. Longer metadata is set by POST /v1/rooms only. */
const MAX_REMEMBERED_METADATA_BYTES = 2_048;

/**
 * Time in which what acts for a deleted room may still arrive: the media server looks for a recorder for 24 s, whose browser
 * then starts, and streaming programs connect again for a while.
 */
const CLOSING_MS = 120_000;

const NO_SETTINGS: RoomSettingsKept = {
  maxParticipants: null,
  emptyTimeout: null,
  departureTimeout: null,
  metadata: null,
  plan: null,
};

const NOT_CLOSED = { closedTo: null, closedAt: null, closedUntil: null, closedSid: null } as const;

/**
 * Returns the settings as a token carries them; undefined when none is known. Those that the room was opened with go before
 * those of its plan.
 */
export function toRoomConfig(
  record: RoomRecord | undefined,
  plan: PlanSettings | undefined,
): RoomConfig | undefined {
  if (record === undefined && plan === undefined) return undefined;
  const { maxParticipants, emptyTimeout, departureTimeout, metadata } = record ?? NO_SETTINGS;
  const config: RoomConfig = {
    ...(plan?.emptyTimeout === undefined
      ? {}
      : { emptyTimeout: plan.emptyTimeout, departureTimeout: plan.emptyTimeout }),
    ...(plan?.metadata === undefined ? {} : { metadata: plan.metadata }),
    ...(plan?.maxParticipants === undefined ? {} : { maxParticipants: plan.maxParticipants }),
    ...(maxParticipants === null ? {} : { maxParticipants }),
    ...(emptyTimeout === null ? {} : { emptyTimeout }),
    ...(departureTimeout === null ? {} : { departureTimeout }),
    ...(metadata === null ? {} : { metadata }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

/**
 * Remembers the settings of a room that POST /v1/rooms has opened or found. A room that was opened without any is not
 * remembered. Never rejects: rooms can be opened without the database, and then have no settings after their end.
 */
export async function rememberSettings(
  deps: RecordDeps,
  room: Room,
  { request: { name: _, ...given }, record, plan = null }: Remembering,
): Promise<void> {
  try {
    const now = deps.clock.now();
    const isGiven = Object.values(given).some((setting) => setting !== undefined);
    if (!isGiven && record === undefined) return;
    const settings = { ...readSettings(room), plan };
    const isFresh = record?.keptUntil == null || record.keptUntil - now > REMEMBERED_MS - REFRESHED_MS;
    if (record !== undefined && record.closedTo === null && isFresh && isSame(record, settings)) return;
    const keptUntil = Math.max(now, lastInstant(plan)) + REMEMBERED_MS;
    await deps.store.rooms.save({ room: room.name, ...settings, ...NOT_CLOSED, keptUntil });
  } catch (err) {
    deps.log.warn({ err }, 'the settings of a room could not be remembered');
  }
}

type Remembering = {
  readonly request: RoomCreate;
  readonly record: RoomRecord | undefined;
  /** The plan for this room alone, as JSON text. */
  readonly plan?: string | null | undefined;
};

/** A room may be planned for long after its creation. */
function lastInstant(plan: string | null): number {
  const { opensAt, closesAt }: PlanSettings = plan === null ? {} : JSON.parse(plan);
  return Math.max(0, ...[opensAt, closesAt].flatMap((at) => (at === undefined ? [] : Date.parse(at))));
}

/**
 * Remembers what POST /v1/rooms plans for a room, before the media server opens it. Rejects with storage-unavailable: a room
 * must not stay open because its end is not known.
 */
export async function rememberPlan(
  { store, clock }: Pick<RecordDeps, 'store' | 'clock'>,
  {
    room,
    record,
    plan,
  }: Pick<Remembering, 'record'> & { readonly room: string; readonly plan: string | null },
): Promise<RoomRecord> {
  const keptUntil = Math.max(clock.now(), lastInstant(plan)) + REMEMBERED_MS;
  const saved: RoomRecord = { ...NO_SETTINGS, ...NOT_CLOSED, ...record, room, plan, keptUntil };
  await store.rooms.save(saved);
  return saved;
}

function readSettings({
  maxParticipants,
  emptyTimeout,
  departureTimeout,
  metadata,
}: Room): Omit<RoomSettingsKept, 'plan'> {
  const isKept = metadata !== '' && !isLongerThan(metadata, MAX_REMEMBERED_METADATA_BYTES);
  return {
    maxParticipants: maxParticipants === 0 ? null : maxParticipants,
    emptyTimeout,
    departureTimeout,
    metadata: isKept ? metadata : null,
  };
}

function isSame(one: RoomSettingsKept, other: RoomSettingsKept): boolean {
  return (Object.keys(NO_SETTINGS) as (keyof RoomSettingsKept)[]).every((name) => one[name] === other[name]);
}

/** Remembers metadata that was changed, if the settings of the room are known. */
export async function rememberMetadata(deps: RecordDeps, room: Room): Promise<void> {
  const { name } = room;
  const found = deps.store.rooms.find({ room: name }, deps.clock.now());
  const record = await found.catch(() => undefined);
  await rememberSettings(deps, room, { request: { name }, record, plan: record?.plan });
}

/** Until when a room is kept closed; `never` for until POST /v1/rooms. */
export type KeptClosed = { readonly until: number | 'never' };

/**
 * Marks open rooms as closed to helpers for a while. Call it before the media server closes them, so that nobody can come back
 * in between. Never rejects: a room must be closable without a database.
 */
export async function markClosing(deps: RecordDeps, open: readonly OpenRoom[]): Promise<void> {
  if (open.length === 0) return;
  try {
    const { store, clock } = deps;
    const now = clock.now();
    const records = await store.rooms.findAll(
      open.map(({ name }) => name),
      now,
    );
    const known = new Map(records.map((record) => [record.room, record]));
    const closing = open.flatMap(({ name, sid }) => {
      const record = known.get(name);
      const isKept = record !== undefined && !decideEntry(record, 'person', now).isAllowed;
      const until = now + CLOSING_MS;
      return isKept ? [] : [toClosed({ room: name, sid }, record, { closedTo: 'helpers', now, until })];
    });
    await store.rooms.save(...closing);
  } catch (err) {
    deps.log.warn({ err }, 'rooms could not be marked as closing');
  }
}

type OpenRoom = Pick<Room, 'name' | 'sid'>;

/**
 * Closes the room to everyone, before the media server does. Throws conflict when too many rooms are kept closed.
 */
export async function markKept(
  { store, clock }: Pick<RecordDeps, 'store' | 'clock'>,
  closed: ClosedSession,
  { until }: KeptClosed,
): Promise<void> {
  const now = clock.now();
  const record = await store.rooms.find({ room: closed.room }, now);
  const isKeptAlready = record !== undefined && !decideEntry(record, 'person', now).isAllowed;
  if (!isKeptAlready) await requireFewClosed(store.rooms, now);
  await store.rooms.save(toClosed(closed, record, { closedTo: 'everyone', now, until }));
}

type ClosedSession = { readonly room: string; readonly sid: string | undefined };

type Closure = KeptClosed & { readonly closedTo: 'helpers' | 'everyone'; readonly now: number };

function toClosed(
  { room, sid }: ClosedSession,
  record: RoomRecord | undefined,
  { closedTo, now, until }: Closure,
): RoomRecord {
  const closedUntil = until === 'never' ? null : until;
  // The settings are remembered for as long as before.
  const rememberedUntil = record?.keptUntil ?? (record === undefined ? 0 : now + REMEMBERED_MS);
  return {
    room,
    ...(record ?? NO_SETTINGS),
    closedTo,
    closedAt: now,
    closedUntil,
    closedSid: sid ?? null,
    keptUntil: closedUntil === null ? null : Math.max(closedUntil, rememberedUntil),
  };
}

async function requireFewClosed(rooms: RoomRecordStore, now: number): Promise<void> {
  if ((await rooms.countClosed(now, MAX_CLOSED_ROOMS)) < MAX_CLOSED_ROOMS) return;
  throw new ServiceError('conflict', `There are already ${MAX_CLOSED_ROOMS} rooms that are kept closed.`, {
    hint: {
      text: 'close rooms until an instant, and open those that may be entered again',
      command: 'rtc rooms closed',
    },
  });
}

/**
 * Lets everyone into the room again. A room that was opened by whoever came although it is closed is deleted first, because
 * it may not have its settings. Returns what is known of the room.
 */
export async function markOpen(deps: EnforceDeps, room: string): Promise<RoomRecord | undefined> {
  const { store, clock } = deps;
  const now = clock.now();
  const record = await store.rooms.find({ room }, now);
  if (record === undefined || decideEntry(record, 'helper', now).isAllowed) return record;
  await removeUnwanted(deps, record);
  const isKnown = !isSame(record, NO_SETTINGS);
  const opened = { ...record, ...NOT_CLOSED, keptUntil: isKnown ? now + REMEMBERED_MS : now };
  await store.rooms.save(opened);
  return isKnown ? opened : undefined;
}

export type EnforceDeps = RecordDeps & {
  readonly mediaServer: Pick<MediaServer, 'listRooms' | 'listParticipants' | 'deleteRoom'>;
};

export type FindRoomRecord = FindRow<RoomRecord, RoomKey>;

/**
 * Deletes the room that somebody has just joined although it is closed. Never rejects: sweepClosedRooms repeats what failed.
 */
export async function enforceEntry(
  deps: EnforceDeps & { readonly findRoomRecord: FindRoomRecord },
  { type, room, participant }: MediaEvent,
): Promise<void> {
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return;
  // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
  if (nameFault(room.name) !== undefined) return;
  try {
    const now = deps.clock.now();
    if (decideEntry(await deps.findRoomRecord({ room: room.name }), 'helper', now).isAllowed) return;
    const record = await deps.store.rooms.find({ room: room.name }, now);
    if (record !== undefined && !decideEntry(record, 'helper', now).isAllowed)
      await removeUnwanted(deps, record);
  } catch (err) {
    deps.log.warn({ err }, 'closing a room again failed; the next comparison tries again');
  }
}

/** Deletes the room of a closed name, unless somebody is in it who may be. */
async function removeUnwanted(
  { mediaServer, log }: EnforceDeps,
  { room, closedTo, closedSid }: RoomRecord,
): Promise<void> {
  const [open] = await mediaServer.listRooms([room]);
  if (open === undefined) return;
  if (closedTo === 'helpers') {
    // The room itself, which is being deleted.
    if (open.sid === closedSid) return;
    const present = await mediaServer.listParticipants(room);
    // An empty room may wait for somebody who is connecting.
    if (present.length === 0 || present.some((one) => !isHelper(one))) return;
  }
  try {
    await mediaServer.deleteRoom(room);
    log.info({ room }, 'closed a room again, which was opened although it is closed');
  } catch (error) {
    if (!hasCode(error, 'room-not-found')) throw error;
  }
}

const HELPER_KINDS = ['EGRESS', 'AGENT', 'INGRESS'];

type Kinded = {
  readonly kind?: string | undefined;
  readonly permission?: { readonly hidden?: boolean | undefined } | undefined;
};

export function isHelper({ kind, permission }: Kinded): boolean {
  return permission?.hidden === true || HELPER_KINDS.includes(kind ?? '');
}

const REQUESTS_AT_ONCE = 8;
const PURGE_BATCH = 500;

/**
 * Closes the rooms again that are open although they are closed, because the event of a join was lost or the media server
 * did not respond. Forgets the oldest records beyond the limit.
 */
export async function sweepClosedRooms(deps: EnforceDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, mediaServer } = deps;
  const now = clock.now();
  if (await store.rooms.isAnyClosed(now)) {
    const open = (await mediaServer.listRooms()).map(({ name }) => name);
    const names = open.filter((name) => nameFault(name) === undefined);
    const closed = await store.rooms.findClosed(names, now);
    await forEachConcurrently(closed, REQUESTS_AT_ONCE, (record) => removeUnwanted(deps, record));
  }
  while (!signal.aborted && (await store.rooms.trim(MAX_REMEMBERED, PURGE_BATCH)) === PURGE_BATCH);
}

/** With more rooms than this, of up to two kilobytes each, every token reads its own room from the database. */
const MAX_CACHED_ROOMS = 20_000;

type RecordCacheDeps = {
  readonly store: { readonly rooms: RoomRecordStore; readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
};

export function openRecordCache({ store, clock }: RecordCacheDeps): RowCache<RoomRecord, RoomKey> {
  return openRowCache<RoomRecord, RoomKey>({
    rows: store.rooms,
    changes: store.changes,
    clock,
    topic: 'rooms',
    toText: ({ room }) => room,
    lasts: ({ keptUntil }, now) => keptUntil === null || keptUntil > now,
    maxRows: MAX_CACHED_ROOMS,
  });
}

const CURSOR = cursorCodec('closed-rooms', 'string');

/** Lists the rooms that are kept closed now. */
export async function listClosedRooms(
  { store, clock }: Pick<RecordDeps, 'store' | 'clock'>,
  { rooms, ...page }: OfRooms<ClosedRoomListQuery>,
): Promise<ClosedRoomList> {
  const { rows, nextCursor } = await readPage(CURSOR, page, {
    read: ({ after: [room] = [], limit }) =>
      store.rooms.listClosed({ now: clock.now(), rooms, after: room === undefined ? room : { room }, limit }),
    locate: ({ room }) => [room] as const,
  });
  return { closedRooms: rows.map(toClosedRoom), nextCursor };
}

function toClosedRoom({ room, closedAt, closedUntil }: RoomRecord): ClosedRoom {
  return {
    name: room,
    closedAt: new Date(closedAt ?? 0).toISOString(),
    closedUntil: toInstant(closedUntil),
  };
}

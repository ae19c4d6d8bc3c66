import { MAX_PLAN_BYTES } from '../../../contract/choices.ts';
import { ServiceError } from '../../../contract/errors.ts';
import { isLongerThan, nameFault } from '../../../contract/names.ts';
import {
  type Plan,
  type PlanList,
  type PlanListQuery,
  type PlanPut,
  type PlanSettings,
  roomPlanFields,
} from '../../../contract/plans.ts';
import type { RoomCreate } from '../../../contract/rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import { type KeyLimits, ROOT_QUOTA } from '../../platform/http/limits/key-limits.ts';
import { cursorCodec, type OfRooms, readPage } from '../../platform/http/read-page.ts';
import { refusedField } from '../../platform/http/refusals.ts';
import { type Caller, requireRoom, requireScope } from '../../platform/http/route.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { openRowCache, type RowCache } from '../../platform/storage/row-cache.ts';
import type { UnitOfWork } from '../../platform/storage/unit-of-work.ts';
import type { FindRoomRecord } from '../room-records.ts';
import type { PlanKey, PlanRecord, RoomRecord, RoomStores } from '../store.ts';

/*
 * A plan has settings for the room of a name, or for all rooms with a prefix; of several the longest wins, and a name wins
 * over any prefix. What POST /v1/rooms plans for one room goes before it, field by field. Plans are stored by their subject:
 *
 *   =lesson-7   the room lesson-7
 *   ^lesson-    all rooms whose names begin with lesson-
 *
 * so that the plan of a room is found by the few subjects that its name has, in memory and in the database.
 */

/** Returns undefined for a room without a plan, and a promise only if the database has to be read. */
export type FindPlan = (room: string) => PlanSettings | undefined | Promise<PlanSettings | undefined>;

/** All plans are kept in memory, of some hundred bytes each. */
const MAX_PLANS = 10_000;

export function toSubject({ room, prefix }: Pick<PlanPut, 'room' | 'prefix'>): string {
  return room === undefined ? `^${prefix ?? ''}` : `=${room}`;
}

/** Returns the subjects that include the room, the one that wins first. */
export function listSubjects(room: string): readonly PlanKey[] {
  const prefixes: PlanKey[] = [];
  let prefix = '^';
  for (const character of room) {
    prefix += character;
    prefixes.push({ subject: prefix });
  }
  return [{ subject: `=${room}` }, ...prefixes.toReversed()];
}

/** Settings as they were parsed last, because a token needs them. */
const parsed = new WeakMap<object, PlanSettings>();

function readSettings(owner: object, settings: string): PlanSettings {
  const known = parsed.get(owner);
  if (known !== undefined) return known;
  const plan: PlanSettings = JSON.parse(settings);
  parsed.set(owner, plan);
  return plan;
}

/** Returns what is planned for a room by its plan and by POST /v1/rooms; undefined for nothing. */
export function mergePlans(
  named: PlanRecord | undefined,
  record: Pick<RoomRecord, 'plan'> | undefined,
): PlanSettings | undefined {
  const own = record?.plan == null ? undefined : readSettings(record, record.plan);
  if (named === undefined) return own;
  const general = readSettings(named, named.settings);
  return own === undefined ? general : { ...general, ...own };
}

type PlanCacheDeps = {
  readonly store: Pick<RoomStores, 'plans'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
};

export type FindNamedPlan = (room: string) => PlanRecord | undefined | Promise<PlanRecord | undefined>;

type PlanCache = Pick<RowCache<PlanRecord, PlanKey>, 'close'> & { readonly findNamed: FindNamedPlan };

export function openPlanCache({ store, clock }: PlanCacheDeps): PlanCache {
  const cache = openRowCache<PlanRecord, PlanKey>({
    rows: store.plans,
    changes: store.changes,
    clock,
    topic: 'plans',
    toText: ({ subject }) => subject,
    lasts: ({ deletedAt }) => deletedAt === null,
    maxRows: MAX_PLANS,
  });
  return { close: cache.close, findNamed: (room) => cache.findFirst(() => listSubjects(room)) };
}

export function createFindPlan(findNamed: FindNamedPlan, findRoomRecord: FindRoomRecord): FindPlan {
  return (room) => {
    const named = findNamed(room);
    const record = findRoomRecord({ room });
    if (!(named instanceof Promise) && !(record instanceof Promise)) return mergePlans(named, record);
    return Promise.all([named, record]).then(([plan, known]) => mergePlans(plan, known));
  };
}

/** Returns what is planned for these rooms, those without a plan left out, mostly from memory. */
export async function findPlans(
  findPlan: FindPlan,
  rooms: Iterable<string | undefined>,
): Promise<ReadonlyMap<string, PlanSettings>> {
  const plans = new Map<string, PlanSettings>();
  for (const room of new Set(rooms)) {
    // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
    if (room === undefined || nameFault(room) !== undefined) continue;
    const plan = await findPlan(room);
    if (plan !== undefined) plans.set(room, plan);
  }
  return plans;
}

/** Reads what is planned for these rooms from the database, because a room must not be closed by what was planned before. */
export async function readPlans(
  store: Pick<RoomStores, 'plans' | 'rooms'>,
  rooms: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, PlanSettings>> {
  const subjects = new Map(rooms.map((room) => [room, listSubjects(room).map(({ subject }) => subject)]));
  const all = [...new Set([...subjects.values()].flat())];
  const named = new Map((await store.plans.findAll(all)).map((plan) => [plan.subject, plan]));
  const records = new Map((await store.rooms.findAll(rooms, now)).map((record) => [record.room, record]));
  const plans = new Map<string, PlanSettings>();
  for (const [room, ofRoom] of subjects) {
    const subject = ofRoom.find((one) => named.has(one));
    const plan = mergePlans(subject === undefined ? undefined : named.get(subject), records.get(room));
    if (plan !== undefined) plans.set(room, plan);
  }
  return plans;
}

const OWN_FIELDS = Object.keys(roomPlanFields) as readonly (keyof typeof roomPlanFields)[];

/** Returns what the request plans for its room; undefined for nothing. */
export function pickPlan(request: RoomCreate): PlanSettings | undefined {
  const given = OWN_FIELDS.flatMap((field) =>
    request[field] === undefined ? [] : [[field, request[field]]],
  );
  return given.length === 0 ? undefined : checkPlan(Object.fromEntries(given));
}

/** Returns the plan. Throws invalid-request for one that cannot be. */
export function checkPlan<P extends PlanSettings>(plan: P): P {
  const { opensAt, closesAt } = plan;
  if (opensAt !== undefined && closesAt !== undefined && Date.parse(closesAt) <= Date.parse(opensAt))
    throw refusedField('#/closesAt', 'must be later than opensAt');
  const { audioOnly, layout, preset } = plan.record ?? {};
  if (audioOnly === true && (layout ?? preset) !== undefined)
    throw refusedField(
      `#/record/${layout === undefined ? 'preset' : 'layout'}`,
      'has no effect with audioOnly: leave it out',
    );
  if (isLongerThan(JSON.stringify(plan), MAX_PLAN_BYTES))
    throw refusedField(
      '#',
      `is larger than a plan may be, ${MAX_PLAN_BYTES} bytes: shorten vocabulary or participants`,
    );
  return plan;
}

/** Throws insufficient-scope when the plan starts what the caller may not start. */
export function requireScopesOfStarts(
  { record, transcribe }: PlanSettings,
  caller: Caller | undefined,
): void {
  if (record !== undefined || transcribe !== undefined) requireScope(['recordings'], caller);
}

export type PlanDeps = {
  readonly store: UnitOfWork<Pick<RoomStores, 'plans' | 'plannedRooms'>>;
  readonly keyLimits: Pick<KeyLimits, 'quota' | 'refuse'>;
  /** The store's clock, because the instants of plans are compared with it. */
  readonly clock: Pick<Clock, 'now'>;
};

type SavedPlan = {
  readonly plan: Plan;
  readonly isNew: boolean;
  /** Fields that changed, and that open rooms of the plan do not take over. */
  readonly ignored: readonly string[];
};

/** The settings that a room gets when it is opened. */
const FIELDS_OF_OPENING = [
  'emptyTimeout',
  'maxParticipants',
  'metadata',
] as const satisfies readonly (keyof PlanSettings)[];

type PlanAct = { readonly id: string; readonly caller: Caller };

/**
 * Stores the plan in place of the one with this id, if any. A plan that is stored already stays as it is. Throws conflict for
 * a room or prefix that has another plan, and when there are as many plans as there may be; key-limit-reached; room-not-found
 * and plan-not-found for a room, prefix or id that is not the caller's.
 */
export async function putPlan(deps: PlanDeps, act: PlanAct, put: PlanPut): Promise<SavedPlan> {
  const { room, prefix, ...settings } = put;
  if (room !== undefined && prefix !== undefined)
    throw refusedField('#/prefix', 'must be left out with room: a plan is for a room or for a prefix');
  if (room === undefined && prefix === undefined)
    throw refusedField('#/prefix', 'is required, or room: a plan is for a room or for a prefix');
  requireRoom(act.caller, room ?? prefix ?? '');
  requireScopesOfStarts(settings, act.caller);
  checkPlan(settings);
  return await savePlan(deps, act, { put, settings });
}

type PutPlan = { readonly put: PlanPut; readonly settings: PlanSettings };

async function savePlan(
  { store, clock, keyLimits }: PlanDeps,
  { id, caller }: PlanAct,
  { put, settings }: PutPlan,
): Promise<SavedPlan> {
  const subject = toSubject(put);
  const text = JSON.stringify(sortFields(settings));
  return await store.transaction(async (within) => {
    await within.plans.lock();
    const now = clock.now();
    const former = await within.plans.findById(id, caller.rooms);
    if (former?.subject === subject && former.settings === text)
      return { plan: toPlan(former), isNew: false, ignored: [] };
    if (former === undefined && (await within.plans.count()) >= MAX_PLANS) throw limitError();
    if (former !== undefined && former.subject !== subject) await within.plans.end(id, now, caller.rooms);
    const { createdAt, createdBy } = former ?? { createdAt: now, createdBy: caller.keyId };
    const saved = { subject, id, settings: text, createdAt, createdBy, updatedAt: now, deletedAt: null };
    const { limit } = former === undefined ? keyLimits.quota('plans', caller) : ROOT_QUOTA;
    if (!(await within.plans.save(saved, limit))) {
      const other = await within.plans.find({ subject }, now);
      if (other !== undefined) throw takenError(put, other);
      const isFull = (await within.plans.countOfKey(caller.keyId)) >= limit;
      throw isFull ? keyLimits.refuse('plans', caller) : idTaken(id, caller);
    }
    const subjects = [...new Set([subject, former?.subject ?? subject])];
    const open = await within.plannedRooms.markDue(subjects, now);
    return {
      plan: toPlan(saved),
      isNew: former === undefined,
      ignored: open === 0 ? [] : listIgnored(former, settings),
    };
  });
}

/** The same plan is the same text, in whichever order its fields were sent. */
function sortFields<T extends object>(settings: T): T {
  const inOrder = Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(inOrder) as T;
}

function listIgnored(former: PlanRecord | undefined, settings: PlanSettings): readonly string[] {
  const before: PlanSettings = former === undefined ? {} : JSON.parse(former.settings);
  return FIELDS_OF_OPENING.filter((field) => before[field] !== settings[field]);
}

function takenError(put: PlanPut, other: PlanRecord): ServiceError {
  const what =
    put.room === undefined ? `prefix ${JSON.stringify(put.prefix)}` : `room ${JSON.stringify(put.room)}`;
  return new ServiceError('conflict', `The ${what} has the plan ${other.id} already.`, {
    hint: { text: 'change that plan, or delete it first', command: `rtc plans get ${other.id}` },
  });
}

function limitError(): ServiceError {
  return new ServiceError('conflict', `There are already ${MAX_PLANS} plans, as many as there may be.`, {
    hint: { text: 'delete plans that are over, or plan by prefix', command: 'rtc plans list' },
  });
}

/**
 * Ids are one namespace, so that the root key can name every plan. Any answer but a new plan tells that the id is in use, so
 * this is the code that GET and DELETE give for it, and a conflict would say more: that there is a plan to look for.
 */
function idTaken(id: string, { keyId }: Caller): ServiceError {
  return new ServiceError(
    'plan-not-found',
    `${keyId} has no plan ${JSON.stringify(id)}, and can have none.`,
    {
      hint: { text: 'choose another id, such as one that begins like your rooms' },
    },
  );
}

/** Throws plan-not-found. */
export async function getPlan({ store }: Pick<PlanDeps, 'store'>, { id, caller }: PlanAct): Promise<Plan> {
  const found = await store.plans.findById(id, caller.rooms);
  if (found === undefined) throw planNotFound(id);
  return toPlan(found);
}

function planNotFound(id: string): ServiceError {
  return new ServiceError('plan-not-found', `There is no plan ${JSON.stringify(id)}.`, {
    hint: { text: 'list the plans', command: 'rtc plans list' },
  });
}

/** Deletes a plan, and returns it. Its open rooms stay open. Throws plan-not-found. */
export async function deletePlan({ store, clock }: PlanDeps, { id, caller }: PlanAct): Promise<Plan> {
  return await store.transaction(async (within) => {
    await within.plans.lock();
    const now = clock.now();
    const ended = await within.plans.end(id, now, caller.rooms);
    if (ended === undefined) throw planNotFound(id);
    await within.plannedRooms.markDue([ended.subject], now);
    return toPlan(ended);
  });
}

const CURSOR = cursorCodec('plans', 'string');

export async function listPlans(
  { store }: Pick<PlanDeps, 'store'>,
  page: OfRooms<PlanListQuery>,
): Promise<PlanList> {
  const { rows, nextCursor } = await readPage(CURSOR, page, {
    read: ({ after, limit }) => store.plans.list({ after: after?.[0], limit, rooms: page.rooms }),
    locate: ({ id }) => [id] as const,
  });
  return { plans: rows.map(toPlan), nextCursor };
}

function toPlan({ id, subject, settings, createdAt, updatedAt }: PlanRecord): Plan {
  const name = subject.slice(1);
  return {
    planId: id,
    ...(subject.startsWith('=') ? { room: name } : { prefix: name }),
    ...(JSON.parse(settings) as PlanSettings),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

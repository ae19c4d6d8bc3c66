import type { PlanTrigger } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import { type AppendEventsDeps, appendEvents, appendRoomEvent } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { EventStores } from '../events/store.ts';
import type { Log } from '../platform/log.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import { type RecordingDeps, startRecording } from '../recordings/start-recording.ts';
import type { RecordingStores } from '../recordings/store.ts';
import { readPlans } from '../rooms/plans/plans.ts';
import type { PlannedRoom, PlannedStart, RoomStores } from '../rooms/store.ts';
import { type StartTranscriptionDeps, startTranscription } from '../transcription/live-routes.ts';
import { type DueLoop, startDueLoop } from './due-loop.ts';

/*
 * Starts the recordings and transcriptions of plans. When the trigger of one has come, a row of the session is added for it,
 * once, whichever instance sees it first. Its start is tried until it succeeds, or until the session ends and removes the row.
 * Nothing is started twice in the same session, also when somebody has stopped it.
 */

const AT_ONCE = 32;

/** Pause after a refused start. */
const RETRY_MS = 15_000;

type StartPlannedDeps = AppendEventsDeps<EventStores & RoomStores & RecordingStores> &
  RecordingDeps &
  StartTranscriptionDeps & {
    readonly store: { readonly changes: ChangeFeed };
    readonly log: Log;
  };

export function startPlanned(deps: StartPlannedDeps): DueLoop {
  const { store, clock, log } = deps;
  return startDueLoop<PlannedStart>({
    clock,
    log,
    changes: store.changes,
    topic: 'plannedStarts',
    rows: store.plannedStarts,
    atOnce: AT_ONCE,
    failureMessage: 'looking for what plans start failed; trying again',
    act: async ({ rows, now }, run) => {
      const names = rows.map(({ room }) => room);
      const plans = await readPlans(store, names, now);
      for (const start of rows)
        run(start, (wake) => startOne(deps, start, plans.get(start.room)).finally(wake));
    },
  });
}

async function startOne(
  deps: StartPlannedDeps,
  start: PlannedStart,
  plan: PlanSettings | undefined,
): Promise<void> {
  const { store, clock, log } = deps;
  try {
    const begin = chooseStart(deps, start, plan);
    if (begin === undefined) return await store.plannedStarts.remove(start);
    const isStarted = await tryStart(deps, start, begin);
    await store.plannedStarts.settle(start, isStarted ? null : clock.now() + RETRY_MS);
  } catch (err) {
    log.warn({ err, starts: start.starts }, 'starting what a plan starts failed; it is tried again');
    await store.plannedStarts.settle(start, clock.now() + RETRY_MS).catch(() => undefined);
  }
}

/** Returns undefined when the plan does not start this any more. */
function chooseStart(
  deps: StartPlannedDeps,
  { room, starts }: PlannedStart,
  plan: PlanSettings | undefined,
): (() => Promise<unknown>) | undefined {
  if (starts === 'recording') {
    if (plan?.record === undefined) return undefined;
    const { at: _, ...settings } = plan.record;
    return () => startRecording(deps, room, settings);
  }
  if (plan?.transcribe === undefined) return undefined;
  const { at: _, ...request } = plan.transcribe;
  return () => startTranscription(deps, room, request);
}

async function tryStart(
  deps: StartPlannedDeps,
  start: PlannedStart,
  begin: () => Promise<unknown>,
): Promise<boolean> {
  const [open] = await deps.mediaServer.listRooms([start.room]);
  // Another session has the name, or the end of this one will be told.
  if (open?.sid !== start.sid) return false;
  try {
    await begin();
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Another start of the recording goes on, whose instance may have died: a recorder may run.
    if (start.starts === 'recording' && error.code === 'conflict') return false;
    await tellFailure(deps, start, error);
    return false;
  }
}

/** The same reason is told once in a session. */
async function tellFailure(
  deps: StartPlannedDeps,
  { sid, starts }: PlannedStart,
  { code, message }: ServiceError,
): Promise<void> {
  await appendEvents(deps, async (store, appender) => {
    const session = await store.presence.lockRoom(sid);
    if (session === undefined || session.endedAt !== null) return;
    const domainEvent: DomainEvent = {
      type: 'planned_start_failed',
      sourceId: `planned_start_failed:${sid}:${starts}:${code}`,
      occurredAt: deps.clock.now(),
      isReconciled: false,
      subject: { planned: { starts, error: { code, message } } },
    };
    await appendRoomEvent(store, appender, { room: { name: session.name, session }, domainEvent });
  });
}

type PlannedNow = { readonly room: PlannedRoom; readonly plan: PlanSettings };

/**
 * Begins what the plans of these sessions start and whose trigger has come. Returns the sids of those in which nothing is left
 * to be triggered.
 */
export async function beginStarts(
  { plannedStarts }: Pick<RoomStores, 'plannedStarts'>,
  rooms: readonly PlannedNow[],
  now: number,
): Promise<ReadonlySet<string>> {
  const waiting = rooms.filter(({ room, plan }) => room.triggeredAt === null && listStarts(plan).length > 0);
  if (waiting.length === 0) return new Set();
  const triggers = await plannedStarts.findTriggers(waiting.map(({ room }) => room.sid));
  const isTriggered = ({ sid, startedAt }: PlannedRoom, at: PlanTrigger): boolean => {
    if (at === 'firstPublish') return triggers.published.has(sid);
    return at === 'role:host' ? triggers.hosted.has(sid) : startedAt !== null;
  };
  const begun = waiting.map(({ room, plan }) => {
    const all = listStarts(plan);
    return { room, all, now: all.filter(({ at }) => isTriggered(room, at)) };
  });
  const added = begun.flatMap(({ room: { sid, room }, now: starting }) =>
    starting.map(({ starts }) => ({ sid, starts, room })),
  );
  await plannedStarts.add(added, now);
  return new Set(
    begun.flatMap(({ room, all, now: starting }) => (all.length === starting.length ? [room.sid] : [])),
  );
}

type Start = { readonly starts: PlannedStart['starts']; readonly at: PlanTrigger };

function listStarts({ record, transcribe }: PlanSettings): readonly Start[] {
  return [
    ...(record === undefined ? [] : [{ starts: 'recording', at: record.at ?? 'firstJoin' } as const]),
    ...(transcribe === undefined
      ? []
      : [{ starts: 'transcription', at: transcribe.at ?? 'firstJoin' } as const]),
  ];
}

/** Returns whether the events may trigger a start of the plan. */
export function mayTrigger(plan: PlanSettings, domainEvents: readonly DomainEvent[]): boolean {
  const wanted = listStarts(plan).map(({ at }) => at);
  return domainEvents.some(({ type, subject }) => {
    if (type === 'room_started') return wanted.includes('firstJoin');
    if (type === 'track_published') return wanted.includes('firstPublish');
    return (
      type === 'participant_joined' && subject.participant?.role === 'host' && wanted.includes('role:host')
    );
  });
}

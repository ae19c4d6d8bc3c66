import { ServiceError } from '../../contract/errors.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  type EventAppender,
} from '../events/append-events.ts';
import type { DomainEvent, EventRecording } from '../events/event-payload.ts';
import type { EventStores, RoomSession } from '../events/store.ts';
import type { Clock } from '../platform/clock.ts';
import { type EndEvent, nextState, type Observation } from './lifecycle.ts';
import type { Recording, RecordingChange, RecordingStores } from './store.ts';

type RecordingEventType = 'egress_started' | 'egress_ended';

/** Returns the event that webhooks get when a recording starts or ends. A corrected end is a separate event. */
export function recordingEvent(
  type: RecordingEventType,
  recording: EventRecording,
  { occurredAt, isReconciled }: Pick<DomainEvent, 'occurredAt' | 'isReconciled'>,
): DomainEvent {
  const end = toSourceId(type, recording.egressId);
  const sourceId = recording.corrected === true ? `${end}:corrected` : end;
  return { type, sourceId, occurredAt, isReconciled, subject: { recording } };
}

/** Source id of the end of a recording, so that the media server's event and ours are stored once. */
export function endSourceId({ egressId }: Pick<Recording, 'egressId'>): string {
  return toSourceId('egress_ended', egressId ?? '');
}

function toSourceId(type: RecordingEventType, egressId: string): string {
  return `${type}:${egressId}`;
}

/** Formats an instant as ISO 8601, as events have it. */
export function toInstant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

/** Tolerance for the time at which a room was opened: the media server's clock may differ from ours. */
const CLOCK_SKEW_MS = 5_000;

/** Publishes an end that is already stored and has no event. */
export async function publishRecordingEnd(
  deps: AppendEventsDeps,
  recording: Recording,
  event: EndEvent,
): Promise<void> {
  await appendEvents(deps, async (store, appender) => {
    const session = await lockRecordedRoom(store, recording);
    await appendEnd(store, appender, {
      recording,
      session,
      domainEvent: endEvent(deps.clock, recording, event),
    });
  });
}

/**
 * Stores an end and its event in one transaction. Locks the room first, like the code that stores the media server's events.
 * Returns undefined and stores nothing when the row has changed since it was read.
 */
export async function storeRecordingEnd(
  deps: AppendEventsDeps<RecordingStores>,
  { recording, change, event }: RecordingEnd,
): Promise<Recording | undefined> {
  return await appendEvents(deps, async (store, appender) => {
    const session = await lockRecordedRoom(store, recording);
    const ended = await store.recordings.update(recording, change);
    if (ended === undefined) return undefined;
    await appendEnd(store, appender, {
      recording: ended,
      session,
      domainEvent: endEvent(deps.clock, ended, event),
    });
    return ended;
  });
}

async function lockRecordedRoom(
  { presence }: Pick<EventStores, 'presence'>,
  { room, startedAt, createdAt }: Recording,
): Promise<RoomSession | undefined> {
  const found = await presence.findRoomAt(room, (startedAt ?? createdAt) + CLOCK_SKEW_MS);
  return found && (await presence.lockRoom(found.sid));
}

type End = {
  readonly recording: Recording;
  readonly session: RoomSession | undefined;
  readonly domainEvent: DomainEvent | undefined;
};

async function appendEnd(
  store: EventStores,
  appender: EventAppender,
  { recording: { room: name }, session, domainEvent }: End,
): Promise<void> {
  if (domainEvent === undefined) return;
  await appendRoomEvent(store, appender, { room: { name, session }, domainEvent });
}

/** Returns undefined for a recording that never had an egress. */
function endEvent(
  clock: Clock,
  recording: Recording,
  { status, error, file, isCorrection }: EndEvent,
): DomainEvent | undefined {
  const { egressId, startedAt } = recording;
  if (egressId === null) return undefined;
  return recordingEvent(
    'egress_ended',
    {
      egressId,
      status,
      error,
      recordingId: recording.id,
      mediaStartedAt: toInstant(recording.mediaStartedAt),
      durationMs: file?.durationMs,
      sizeBytes: file?.sizeBytes,
      ...(isCorrection === true ? { corrected: true } : {}),
    },
    { occurredAt: Math.max(clock.now(), startedAt ?? 0), isReconciled: true },
  );
}

/** An end that this service must publish, with the change of the row that belongs to it. */
export type RecordingEnd = {
  /** The row as it was read. */
  readonly recording: Recording;
  readonly change: RecordingChange;
  readonly event: EndEvent;
};

export type ApplyDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  /**
   * Stores an end that the media server may never report, together with its event, in one transaction. Returns undefined,
   * like update, when the row has changed since it was read.
   */
  readonly storeEnd?: ((end: RecordingEnd) => Promise<Recording | undefined>) | undefined;
  /** Cleans up after a recording that has no file and will get none. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
};

type Applied = {
  /** The current row; undefined when it was deleted. */
  readonly recording: Recording | undefined;
  readonly hasChanged: boolean;
};

/** Maximum attempts at a row that other instances change at the same time. */
const ROUNDS = 5;

/**
 * The only writer of a recording's state. When another instance has changed the row in the meantime, the observation is
 * applied to the changed row.
 */
export async function applyObservation(
  deps: ApplyDeps,
  recording: Recording,
  observation: Observation,
): Promise<Applied> {
  const { recordings } = deps.store;
  let current = recording;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { change, event } = nextState(current, observation);
    if (change === undefined) return { recording: current, hasChanged: false };
    if (change === 'delete') {
      if (await recordings.release(current)) {
        deps.releaseFolder?.(current);
        return { recording: undefined, hasChanged: true };
      }
    } else {
      const updated =
        event === undefined || deps.storeEnd === undefined
          ? await recordings.update(current, change)
          : await deps.storeEnd({ recording: current, change, event });
      if (updated !== undefined) {
        if (hasEndedWithoutFile(updated)) deps.releaseFolder?.(updated);
        return { recording: updated, hasChanged: true };
      }
    }
    const reloaded = await recordings.find(recording.id);
    if (reloaded === undefined) return { recording: undefined, hasChanged: false };
    current = reloaded;
  }
  throw new ServiceError('storage-unavailable', 'The recording keeps changing; try again.', {
    retryable: true,
  });
}

/** The egress of a start that was given up may still begin. */
function hasEndedWithoutFile({ status, egressId, sizeBytes }: Recording): boolean {
  return egressId !== null && sizeBytes === null && (status === 'failed' || status === 'aborted');
}

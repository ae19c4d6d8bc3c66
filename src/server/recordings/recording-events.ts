import type { EventBroadcast } from '../../contract/broadcasts.ts';
import { ServiceError } from '../../contract/errors.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvents,
  type EventAppender,
} from '../events/append-events.ts';
import type { DomainEvent, EventRecording } from '../events/event-payload.ts';
import type { EventStores, RoomSession } from '../events/store.ts';
import { type Clock, toInstant } from '../platform/clock.ts';
import { findFailed, readOutputs, type Stream } from './broadcast-outputs.ts';
import { type EndEvent, type EndedState, nextState, type Observation } from './lifecycle.ts';
import type { Recording, RecordingChange, RecordingState, RecordingStores } from './store.ts';

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

type BroadcastEventType = 'broadcast_started' | 'broadcast_url_failed' | 'broadcast_ended';

/**
 * Returns the events of a broadcast that a change of its row means, besides its end. The media server's own events of its
 * egress are not told.
 */
export function broadcastEvents(
  before: Recording,
  after: Recording,
  { isReconciled }: Pick<DomainEvent, 'isReconciled'>,
): readonly DomainEvent[] {
  if (after.kind !== 'broadcast' || after.egressId === null) return [];
  const failed = findFailed(before, after).map((stream) => ({
    ...broadcastEvent('broadcast_url_failed', after, {
      occurredAt: stream.since,
      isReconciled,
      failedUrl: stream,
    }),
    sourceId: toSourceId('broadcast_url_failed', stream.id),
  }));
  if (before.status !== 'starting' || after.status !== 'recording') return failed;
  const occurredAt = after.startedAt ?? after.createdAt;
  return [broadcastEvent('broadcast_started', after, { occurredAt, isReconciled: false }), ...failed];
}

/** Returns the event of the end of a broadcast, whose row has ended. */
export function broadcastEndEvent(
  broadcast: Recording,
  { isReconciled, isCorrection }: Pick<DomainEvent, 'isReconciled'> & Pick<EndEvent, 'isCorrection'>,
): DomainEvent {
  const occurredAt = broadcast.endedAt ?? broadcast.stoppedAt ?? broadcast.createdAt;
  const told = broadcastEvent('broadcast_ended', broadcast, { occurredAt, isReconciled });
  // A recorder may take half a minute to end after its stop.
  const event = { ...told, usedUntil: broadcast.stoppedAt ?? undefined };
  if (isCorrection !== true) return event;
  const corrected = event.subject.broadcast && { ...event.subject.broadcast, corrected: true };
  return {
    ...event,
    sourceId: `${event.sourceId}:corrected`,
    subject: corrected === undefined ? {} : { broadcast: corrected },
  };
}

type Occurrence = Pick<DomainEvent, 'occurredAt' | 'isReconciled'> & { readonly failedUrl?: Stream };

function broadcastEvent(
  type: BroadcastEventType,
  broadcast: Recording,
  { occurredAt, isReconciled, failedUrl }: Occurrence,
): DomainEvent {
  const { egressId, error, durationMs, sizeBytes, status } = broadcast;
  const hls = toHls(broadcast);
  const subject: EventBroadcast = {
    broadcastId: broadcast.id,
    egressId: egressId ?? '',
    status: toBroadcastState(status),
    startedAt: toInstant(broadcast.startedAt),
    urls: readOutputs(broadcast).streams.map(toEventUrl),
    ...(hls === null ? {} : { hls }),
    ...(error === null ? {} : { error }),
    ...(durationMs === null ? {} : { durationMs }),
    ...(sizeBytes === null ? {} : { sizeBytes }),
    ...(failedUrl === undefined ? {} : { failedUrl: toEventUrl(failedUrl) }),
  };
  return {
    type,
    sourceId: toSourceId(type, egressId ?? ''),
    occurredAt,
    isReconciled,
    subject: { broadcast: subject },
  };
}

function toEventUrl({ id, url, state, error }: Stream) {
  return { urlId: id, url, state, error };
}

/** The word of the API for the state of a broadcast. */
export function toBroadcastState(status: RecordingState): 'broadcasting' | EndedState {
  return status === 'starting' || status === 'recording' ? 'broadcasting' : status;
}

/** The place of a broadcast's HLS; null without. */
export function toHls(broadcast: Recording) {
  const { hls } = readOutputs(broadcast);
  if (hls === null) return null;
  const folder = broadcast.filepath.slice(0, broadcast.filepath.lastIndexOf('/'));
  return { ...hls, bucket: broadcast.bucket, folder };
}

/** Source id of the end of a recording, so that the media server's event and ours are stored once. */
export function endSourceId({ kind, egressId }: Pick<Recording, 'kind' | 'egressId'>): string {
  return toSourceId(kind === 'broadcast' ? 'broadcast_ended' : 'egress_ended', egressId ?? '');
}

function toSourceId(type: RecordingEventType | BroadcastEventType, egressId: string): string {
  return `${type}:${egressId}`;
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
    const domainEvents = endEvents(deps.clock, recording, event);
    await appendTold(store, appender, { recording, session, domainEvents });
  });
}

/**
 * Stores a change and its events in one transaction. Locks the room first, like the code that stores the media server's events.
 * Returns undefined and stores nothing when the row has changed since it was read.
 */
export async function storeToldChange(
  deps: AppendEventsDeps<RecordingStores>,
  { recording, change, event }: ToldChange,
): Promise<Recording | undefined> {
  return await appendEvents(deps, async (store, appender) => {
    const session = await lockRecordedRoom(store, recording);
    const changed = await store.recordings.update(recording, change);
    if (changed === undefined) return undefined;
    const domainEvents = [
      ...broadcastEvents(recording, changed, { isReconciled: true }),
      ...(event === undefined ? [] : endEvents(deps.clock, changed, event)),
    ];
    await appendTold(store, appender, { recording: changed, session, domainEvents });
    return changed;
  });
}

async function lockRecordedRoom(
  { presence }: Pick<EventStores, 'presence'>,
  { room, startedAt, createdAt }: Recording,
): Promise<RoomSession | undefined> {
  const found = await presence.findRoomAt(room, (startedAt ?? createdAt) + CLOCK_SKEW_MS);
  return found && (await presence.lockRoom(found.sid));
}

type Told = {
  readonly recording: Recording;
  readonly session: RoomSession | undefined;
  readonly domainEvents: readonly DomainEvent[];
};

async function appendTold(
  store: EventStores,
  appender: EventAppender,
  { recording: { room: name }, session, domainEvents }: Told,
): Promise<void> {
  await appendRoomEvents(store, appender, { room: { name, session }, domainEvents });
}

/** Returns nothing for a recording that never had an egress. */
function endEvents(
  clock: Clock,
  recording: Recording,
  { status, error, file, isCorrection }: EndEvent,
): readonly DomainEvent[] {
  const { egressId, startedAt } = recording;
  if (egressId === null) return [];
  if (recording.kind === 'broadcast')
    return [broadcastEndEvent(recording, { isReconciled: true, ...(isCorrection && { isCorrection }) })];
  const ended = recordingEvent(
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
  return [ended];
}

/** A change of a row that this service must publish: of a broadcast, or with an end. */
export type ToldChange = {
  /** The row as it was read. */
  readonly recording: Recording;
  readonly change: RecordingChange;
  readonly event: EndEvent | undefined;
};

export type ApplyDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  /**
   * Stores a change of a broadcast, or an end that the media server may never report, together with its events, in one
   * transaction. Returns undefined, like update, when the row has changed since it was read.
   */
  readonly storeTold?: ((change: ToldChange) => Promise<Recording | undefined>) | undefined;
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
      const isTold = event !== undefined || current.kind === 'broadcast';
      const updated =
        isTold && deps.storeTold !== undefined
          ? await deps.storeTold({ recording: current, change, event })
          : await recordings.update(current, change);
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
function hasEndedWithoutFile({ status, egressId, sizeBytes, filepath }: Recording): boolean {
  return (
    egressId !== null &&
    sizeBytes === null &&
    filepath !== '' &&
    (status === 'failed' || status === 'aborted')
  );
}

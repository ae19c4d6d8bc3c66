import { ServiceError } from '../../contract/errors.ts';
import { isProbeRoom } from '../../contract/names.ts';
import type { RecordingSettings, RecordingStart } from '../../contract/recordings.ts';
import type { IdGenerator } from '../platform/clock.ts';
import { refusedField } from '../platform/http/refusals.ts';
import type { MediaWorkers } from '../platform/livekit/count-media-workers.ts';
import type { BucketSettings, Egress, RoomCompositeRequest } from '../platform/livekit/media-server.ts';
import { getRoom, roomNotFound } from '../rooms/rooms.ts';
import {
  type AbandonedStartDeps,
  cleanUpFailedStart,
  endAbandonedStart,
  giveUpStart,
  stopQuietly,
} from './abandoned-starts.ts';
import { isStillRecording } from './egress-state.ts';
import type { RecordingStorage } from './files/recording-files.ts';
import { hasClaimRunOut } from './lifecycle.ts';
import { type MeasureDeps, withinTime } from './measure-file.ts';
import { type ApplyDeps, applyObservation } from './recording-events.ts';
import { recordingPath } from './recording-path.ts';
import type { NewRecording, Recording, RecordingKind } from './store.ts';

export type RecordingDeps = AbandonedStartDeps &
  ApplyDeps &
  MeasureDeps & {
    readonly mediaWorkers: MediaWorkers;
    readonly recordingStorage: Pick<RecordingStorage, 'makeReady'>;
    readonly ids: IdGenerator;
    readonly recordings: {
      readonly bucket: BucketSettings | undefined;
      /** Folder in the recorder's own file system, if there is no bucket. */
      readonly directory: string;
      readonly pathTemplate: string;
      /** Maximum time for which a start waits for a recorder. */
      readonly timeoutMs: number;
      /** The URL to which the media server sends the events of an egress. It is known once the service listens. */
      readonly webhookUrl: () => string;
    };
    /** Work that outlives its request; the service waits for it before it closes. */
    readonly background: (work: Promise<void>) => void;
  };

/*
 * A room has at most one recording and one broadcast, also under concurrent starts and with several instances. The lock is
 * the row:
 *
 *   claim the room ──claimed──> is a recorder connected? ──no──> delete the row: 503 at once
 *        │                             │ yes, or unknown
 *        │                      start an egress ──created──> the row becomes `recording`: 201 recording
 *        │                             ├──refused──> stop what may run all the same, delete the row, throw the error
 *        │                             └──timeout──> 503; the row stays claimed until the late response came:
 *        │                                           a late egress is stopped, then the row ends as failed
 *        ├──`recording` row──> does it still run? yes: 200 already_recording; no: end it, claim again
 *        └──`starting` row of another──> wait for it, then claim again; 409 if it takes too long
 *
 * The media server tells of an egress by an event too, and whoever receives it first makes the row `recording`: the instance
 * that started it may have died. If it died before there was an egress, its claim runs out, and the next start, or the
 * reconciler, gives the start up, which frees the room.
 */

/** Maximum time for which a caller waits. After waiting for another start, enough time is left for a recorder. */
const REQUEST_TIMEOUT_MS = 25_000;
/** Longer than the media server client waits for a start, so that a claim in use never expires. */
const CLAIM_MS = 60_000;
const POLL_INTERVAL_MS = 100;

/**
 * Starts a recording, or returns the running one of the room, which keeps its own settings. Throws room-not-found, conflict,
 * invalid-request, media-worker-unavailable and the media server's own errors.
 */
export async function startRecording(
  deps: RecordingDeps,
  room: string,
  settings: RecordingSettings = {},
): Promise<RecordingStart> {
  refuseWithoutEffect(settings);
  const { bucket, directory, pathTemplate } = deps.recordings;
  const { recording, isNew } = await startInRoom(deps, room, {
    kind: 'recording',
    describe: (now) => {
      const path = recordingPath(pathTemplate, room, now);
      return {
        id: `rec_${deps.ids.next()}`,
        filepath: bucket === undefined ? `${directory}/${path}` : path,
        bucket: bucket?.bucket ?? null,
        recordTracks: settings.recordTracks === true ? 1 : 0,
      };
    },
    describeEgress: ({ filepath }) => ({ filepath, settings }),
  });
  return toStart(recording, isNew ? 'recording' : 'already_recording');
}

/** How the egress of a recording or of a broadcast is to be started in a room. */
export type EgressStart = {
  readonly kind: RecordingKind;
  readonly describe: (
    now: number,
  ) => Pick<NewRecording, 'id' | 'filepath' | 'bucket' | 'recordTracks' | 'outputs'>;
  readonly describeEgress: (
    recording: Recording,
  ) => Pick<RoomCompositeRequest, 'filepath' | 'settings' | 'broadcast'>;
};

type Started = { readonly recording: Recording; readonly isNew: boolean };

/** Starts the wanted egress, or returns the one of its kind that already runs in the room. Throws as startRecording does. */
export async function startInRoom(deps: RecordingDeps, room: string, wanted: EgressStart): Promise<Started> {
  const { sid: roomSid } = await getRoom(deps, room);
  const { timeoutMs } = deps.recordings;
  const requestedAt = deps.clock.monotonic();
  // Without Redis this request fails at once, while a start would search for a recorder for 22 s.
  await deps.mediaServer.listEgress({ room, active: true });
  for (;;) {
    const claim = await claimRoom(deps, { room, roomSid, wanted });
    if (claim.claimed) {
      await ensureRoom(deps, claim.recording);
      await ensureRecorder(deps, claim.recording);
      const deadline = Math.min(deps.clock.monotonic() + timeoutMs, requestedAt + REQUEST_TIMEOUT_MS);
      return await startEgress(deps, { recording: claim.recording, wanted, deadline });
    }
    const { recording } = claim;
    if (recording.status === 'recording') {
      if (await isStillRecording(deps, recording)) return { recording, isNew: false };
      continue;
    }
    if (hasClaimRunOut(recording, deps.clock.now())) {
      await endAbandonedStart(deps, recording);
      continue;
    }
    if (deps.clock.monotonic() >= requestedAt + timeoutMs) {
      const message = 'Another start in this room goes on, and no recorder has taken its work yet.';
      throw new ServiceError('conflict', message, { retryable: true });
    }
    await deps.clock.sleep(POLL_INTERVAL_MS);
  }
}

/** Rejects options of the picture for a recording that has no picture. */
function refuseWithoutEffect({ audioOnly, layout, preset }: RecordingSettings): void {
  const name = layout === undefined ? 'preset' : 'layout';
  if (audioOnly !== true || (layout ?? preset) === undefined) return;
  throw refusedField(`#/${name}`, 'has no effect with audioOnly: leave it out');
}

type Claim = { readonly room: string; readonly roomSid: string; readonly wanted: EgressStart };

async function claimRoom(deps: RecordingDeps, { room, roomSid, wanted }: Claim) {
  const now = deps.clock.now();
  const { instanceId: owner } = deps;
  const claim = { kind: wanted.kind, room, roomSid, owner, claimUntil: now + CLAIM_MS };
  return await deps.store.recordings.claim({ ...wanted.describe(now), ...claim }, now);
}

/**
 * Looks for the room once more: a deletion between the first look and the claim has found no recording to stop. A later one
 * finds this recording.
 */
async function ensureRoom(deps: RecordingDeps, recording: Recording): Promise<void> {
  try {
    await getRoom(deps, recording.room);
  } catch (error) {
    await applyObservation(deps, recording, { type: 'start-refused', owner: deps.instanceId });
    throw error;
  }
}

/** Without this check the media server would look for a recorder for some 23 s before it reports that there is none. */
async function ensureRecorder(deps: RecordingDeps, recording: Recording): Promise<void> {
  const { recorders } = await deps.mediaWorkers.count();
  if (recorders !== 0) return;
  await applyObservation(deps, recording, { type: 'start-refused', owner: deps.instanceId });
  throw new ServiceError('media-worker-unavailable', "No recorder is connected to the media server's Redis", {
    retryable: true,
    hint: { text: 'start a LiveKit egress worker (image livekit/egress) on it' },
  });
}

type StartOutcome = { readonly egress: Egress } | { readonly error: unknown };

type Start = {
  readonly recording: Recording;
  readonly wanted: EgressStart;
  /** Monotonic milliseconds. */
  readonly deadline: number;
};

async function startEgress(deps: RecordingDeps, { recording, wanted, deadline }: Start): Promise<Started> {
  const outcome = requestEgress(deps, recording, wanted).then(
    (egress): StartOutcome => ({ egress }),
    (error: unknown): StartOutcome => ({ error }),
  );
  const inTime = await withinTime(deps.clock, outcome, deadline - deps.clock.monotonic());
  if (inTime !== undefined && 'egress' in inTime) return await activate(deps, recording, inTime.egress);
  const told = await noteUnwanted(deps, recording);
  if (told !== undefined) return { recording: told, isNew: true };
  if (inTime === undefined) {
    deps.background(discardLateStart(deps, recording, outcome));
    throw noRecorder();
  }
  // The egress may run although its start failed. If that cannot be found out now, the claim expires.
  await cleanUpFailedStart(deps, recording, inTime.error).catch((error: unknown) => {
    deps.log.warn({ recordingId: recording.id, err: error }, 'cleaning up after a failed start failed');
  });
  throw inTime.error;
}

/**
 * Returns the recording if an event has told of its egress, which is an answer too. From now on, such an event does not activate
 * the recording any more.
 */
async function noteUnwanted(deps: RecordingDeps, recording: Recording): Promise<Recording | undefined> {
  const observation = { type: 'start-unwanted', owner: deps.instanceId, at: deps.clock.now() } as const;
  try {
    const { recording: current } = await applyObservation(deps, recording, observation);
    return current?.status === 'recording' ? current : undefined;
  } catch (err) {
    deps.log.warn({ recordingId: recording.id, err }, 'noting that a start is given up failed');
    return undefined;
  }
}

async function requestEgress(
  deps: RecordingDeps,
  recording: Recording,
  wanted: EgressStart,
): Promise<Egress> {
  const { id, kind, room, filepath } = recording;
  // A probe of `rtc doctor` records nothing, and would leave an empty folder.
  if (!isProbeRoom(room) && filepath !== '') await deps.recordingStorage.makeReady(filepath);
  const { bucket } = deps.recordings;
  // The media server tells this URL with the egress, so that the egress of a start is recognised without its response.
  const url = new URL(deps.recordings.webhookUrl());
  url.searchParams.set('recording', id);
  // Older builds look for it, and take the egress of a broadcast for somebody else's without it.
  if (kind === 'broadcast') url.searchParams.set('start', id);
  const egress = wanted.describeEgress(recording);
  return await deps.mediaServer.startRoomComposite({ room, bucket, webhookUrl: url.href, ...egress });
}

async function activate(deps: RecordingDeps, recording: Recording, { egressId }: Egress): Promise<Started> {
  let active: Recording | undefined;
  try {
    const observation = { type: 'egress-created', egressId, at: deps.clock.now() } as const;
    const { recording: current } = await applyObservation(deps, recording, observation);
    if (current?.egressId === egressId) active = current;
  } finally {
    // Without a row nothing would ever stop the egress.
    if (active === undefined) await stopQuietly(deps, egressId);
  }
  if (active === undefined) {
    throw new ServiceError('conflict', 'The start took too long; try again.', { retryable: true });
  }
  return { recording: active, isNew: true };
}

/** The caller has already received 503. An egress that starts late is stopped, and only then does the room become free. */
async function discardLateStart(
  deps: RecordingDeps,
  recording: Recording,
  late: Promise<StartOutcome>,
): Promise<void> {
  const outcome = await late;
  if ('error' in outcome) return await cleanUpFailedStart(deps, recording, outcome.error);
  await stopQuietly(deps, outcome.egress.egressId);
  await giveUpStart(deps, recording, 'the recorder came too late and was stopped');
}

function toStart(recording: Recording, status: RecordingStart['status']): RecordingStart {
  const { egressId, startedAt, room } = recording;
  if (egressId === null || startedAt === null) throw roomNotFound(room);
  return { egressId, roomId: room, status, startedAt: new Date(startedAt).toISOString() };
}

function noRecorder(): ServiceError {
  return new ServiceError(
    'media-worker-unavailable',
    'No recorder took the work in time. Is a LiveKit egress worker connected to the same Redis, and does it have capacity for one more?',
    { retryable: true },
  );
}

import { ServiceError } from '../../contract/errors.ts';
import { isProbeRoom } from '../../contract/probe-rooms.ts';
import type { RecordingStart } from '../../contract/recordings.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import { findRoom, roomNotFound } from '../rooms/rooms.ts';
import { isStillRecording } from './apply-egress-state.ts';
import { discardFailedStart, giveUpStart, stopByPath, stopQuietly } from './discard-start.ts';
import type { RecordingDeps } from './recording-deps.ts';
import { recordingPath } from './recording-path.ts';
import type { Recording } from './store.ts';

/*
 * At most one recording per room, also under concurrent starts and with several instances. The lock is the row:
 *
 *   claim the room ──claimed──> is a recorder connected? ──no──> release the row: 503 at once
 *        │                             │ yes, or it cannot be known
 *        │                      ask the media server ──egress──> activate the row: 201 recording
 *        │                             ├──refused──> stop what may run all the same, release the row, pass the error on
 *        │                             └──patience over──> 503; the row stays claimed until the late answer came:
 *        │                                                 a late egress is stopped, then the row ends as failed
 *        ├──active row──> does it still run? yes: 200 already_recording; no: end it, claim again
 *        └──starting row of another──> wait for it, then look again
 *
 * An instance that dies between claim and activation leaves a `starting` row whose claim runs out; who takes it
 * over, a start or the reconciler, first stops an egress that it may have left behind.
 */

/** The caller's patience, of which a start that waited for another one still has enough for a recorder. */
const PATIENCE_MS = 25_000;
/** Longer than the media server client waits for a start, so that a claim in use never runs out. */
const CLAIM_MS = 60_000;
const LOOK_AGAIN_MS = 100;

/** Throws room-not-found, media-worker-unavailable and the media server's own failures. */
export async function startRecording(deps: RecordingDeps, room: string): Promise<RecordingStart> {
  await findRoom(deps, room);
  const { patienceMs } = deps.recordings;
  const askedAt = deps.clock.now();
  // Without Redis this fails at once, where a start would search 22 s for a recorder. It also comes before a claim
  // is taken over, as what the earlier owner left behind is known by its row alone.
  let running = await deps.mediaServer.listEgress({ room, active: true });
  for (;;) {
    const claim = await claimRoom(deps, room);
    if (claim.claimed) {
      if (claim.takenOverFrom !== undefined) await stopByPath(deps, running, claim.takenOverFrom.filepath);
      await ensureRecorder(deps, claim.recording);
      const deadline = Math.min(deps.clock.now() + patienceMs, askedAt + PATIENCE_MS);
      return await launch(deps, claim.recording, deadline);
    }
    const { recording } = claim;
    if (recording.status === 'recording') {
      if (await isStillRecording(deps, recording)) return toStart(recording, 'already_recording');
      continue;
    }
    if (deps.clock.now() >= askedAt + patienceMs) throw noRecorder();
    await deps.clock.sleep(LOOK_AGAIN_MS);
    // About to be taken over, by which time more may run than did at first.
    const hasRunOut = recording.claimUntil !== null && recording.claimUntil <= deps.clock.now();
    if (hasRunOut) running = await deps.mediaServer.listEgress({ room, active: true });
  }
}

async function claimRoom(deps: RecordingDeps, room: string) {
  const now = deps.clock.now();
  const path = recordingPath(deps.recordings.pathTemplate, room, now);
  return await deps.store.recordings.claim(
    {
      id: `rec_${deps.ids.next()}`,
      room,
      filepath: deps.recordings.bucket === undefined ? `${deps.recordings.directory}/${path}` : path,
      bucket: deps.recordings.bucket?.bucket ?? null,
      owner: deps.instanceId,
      claimUntil: now + CLAIM_MS,
    },
    now,
  );
}

/** The media server would look for a recorder for some 23 s before it says that there is none. */
async function ensureRecorder(deps: RecordingDeps, { id }: Recording): Promise<void> {
  const { recorders } = await deps.mediaWorkers.count();
  if (recorders !== 0) return;
  await deps.store.recordings.release(id, deps.instanceId);
  throw new ServiceError(
    'media-worker-unavailable',
    "No recorder is connected to the media server's Redis. Start a LiveKit egress worker (image livekit/egress) on it.",
    { retryable: true },
  );
}

type StartOutcome = { readonly egress: Egress } | { readonly error: unknown };

async function launch(deps: RecordingDeps, recording: Recording, deadline: number): Promise<RecordingStart> {
  const outcome = askForRecorder(deps, recording).then(
    (egress): StartOutcome => ({ egress }),
    (error: unknown): StartOutcome => ({ error }),
  );
  const inTime = await withinPatience(deps, outcome, deadline);
  if (inTime === undefined) {
    deps.background(discardLate(deps, recording, outcome));
    throw noRecorder();
  }
  if ('error' in inTime) {
    // The answer may be what was lost, not the start. Where that cannot be known now, the claim runs out.
    await discardFailedStart(deps, recording, inTime.error).catch((error: unknown) => {
      deps.log.warn({ recordingId: recording.id, err: error }, 'cleaning up after a failed start failed');
    });
    throw inTime.error;
  }
  return await activate(deps, recording, inTime.egress);
}

async function askForRecorder(deps: RecordingDeps, { room, filepath }: Recording): Promise<Egress> {
  // Of a trial nothing is recorded: it would leave an empty folder.
  if (!isProbeRoom(room)) await deps.recordingStorage.makeReady(filepath);
  const { bucket, webhookUrl } = deps.recordings;
  return await deps.mediaServer.startRoomComposite({ room, filepath, bucket, webhookUrl: webhookUrl() });
}

async function withinPatience(
  deps: RecordingDeps,
  outcome: Promise<StartOutcome>,
  deadline: number,
): Promise<StartOutcome | undefined> {
  const timer = new AbortController();
  const patience = deps.clock.sleep(deadline - deps.clock.now(), timer.signal).then(
    () => undefined,
    () => undefined,
  );
  const first = await Promise.race([outcome, patience]);
  timer.abort();
  return first;
}

async function activate(deps: RecordingDeps, recording: Recording, egress: Egress): Promise<RecordingStart> {
  const startedAt = deps.clock.now();
  const { egressId } = egress;
  let isOurs = false;
  try {
    isOurs = await deps.store.recordings.activate(recording.id, deps.instanceId, { egressId, startedAt });
  } finally {
    // An egress that no row knows would record for ever.
    if (!isOurs) await stopQuietly(deps, egressId);
  }
  if (!isOurs)
    throw new ServiceError('conflict', 'The start took too long; start again.', { retryable: true });
  return toStart({ ...recording, egressId, startedAt }, 'recording');
}

/** The caller has long been told 503: what started all the same is stopped, and only then is the room free. */
async function discardLate(
  deps: RecordingDeps,
  recording: Recording,
  late: Promise<StartOutcome>,
): Promise<void> {
  const outcome = await late;
  if ('error' in outcome) return await discardFailedStart(deps, recording, outcome.error);
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
    'No recorder took the recording in time. Is a LiveKit egress worker connected to the same Redis, and has it room for one more?',
    { retryable: true },
  );
}

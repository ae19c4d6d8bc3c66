import { ServiceError } from '../../contract/errors.ts';
import {
  RecordingSettingsSchema,
  RecordingStartSchema,
  RecordingStatusSchema,
  type RecordingStop,
  RecordingStopSchema,
} from '../../contract/recordings.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { defineRoute, MEDIA_ERRORS, type Route } from '../platform/http/route.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { getRoom } from '../rooms/rooms.ts';
import { applyStop, type EgressStateDeps, hasSilentRecorder, mayBeStarting } from './egress-state.ts';
import { applyObservation } from './recording-events.ts';
import { getRecordingStatus } from './recordings.ts';
import { type RecordingDeps, startRecording } from './start-recording.ts';
import type { Recording, RecordingKind } from './store.ts';

const RECORDING_ERRORS = [...MEDIA_ERRORS, 'media-worker-unavailable', 'storage-unavailable'] as const;

export function recordingRoutes(deps: RecordingDeps): readonly Route[] {
  return [startRoute(deps), stopRoute(deps), statusRoute(deps)];
}

function startRoute(deps: RecordingDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/recording/start',
    operationId: 'startRecording',
    tag: 'recordings',
    summary: 'Record a room to an MP4 file',
    description:
      'A room has one recording at a time, even with concurrent starts. A second start returns the running recording, which keeps its options. The body is optional.',
    scopes: ['recordings'],
    params: RoomParams,
    body: RecordingSettingsSchema,
    success: {
      200: { description: 'The room is already being recorded', schema: RecordingStartSchema },
      201: { description: 'The recording was started', schema: RecordingStartSchema },
    },
    errors: ['room-not-found', 'conflict', ...RECORDING_ERRORS],
    handle: async ({ params, body }) => {
      const started = await startRecording(deps, params.roomId, body);
      const ids = { recordingId: started.egressId };
      return { status: started.status === 'recording' ? 201 : 200, body: started, ids };
    },
  });
}

function stopRoute(deps: RecordingDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/recording/stop',
    operationId: 'stopRecording',
    tag: 'recordings',
    summary: 'Stop the recording of a room',
    description:
      'The file is complete some seconds later: the event egress_ended has a link to it. A recording that never received media ends as aborted, without a file.',
    scopes: ['recordings'],
    params: RoomParams,
    success: { 200: { description: 'The recording was stopped', schema: RecordingStopSchema } },
    errors: ['room-not-found', 'no-active-recording', ...RECORDING_ERRORS],
    handle: async ({ params }) => ({ status: 200, body: await stopRecording(deps, params.roomId) }),
  });
}

function statusRoute(deps: RecordingDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId/recording',
    operationId: 'getRecordingStatus',
    tag: 'recordings',
    summary: 'Show whether a room is being recorded',
    description: 'An open room that is not being recorded is not an error.',
    scopes: ['read', 'recordings'],
    params: RoomParams,
    success: { 200: { description: 'Whether the room is being recorded', schema: RecordingStatusSchema } },
    errors: ['room-not-found', ...RECORDING_ERRORS],
    handle: async ({ params }) => ({ status: 200, body: await getRecordingStatus(deps, params.roomId) }),
  });
}

/**
 * Stops the recording of a room. Throws no-active-recording, also when the recording has ended by itself in the meantime,
 * and room-not-found.
 */
export async function stopRecording(deps: EgressStateDeps, room: string): Promise<RecordingStop> {
  const stopped = await stopInRoom(deps, room, 'recording');
  if (stopped === undefined) throw await noActiveRecording(deps, room);
  const { egressId, stoppedAt } = stopped;
  return { egressId, roomId: room, status: 'stopped', stoppedAt };
}

/** Stops what of this kind runs in the room. Returns undefined when nothing does. */
export async function stopInRoom(deps: EgressStateDeps, room: string, kind: RecordingKind) {
  const recording = await deps.store.recordings.findActive(room, kind);
  if (recording === undefined || recording.egressId === null) return undefined;
  const egress = await stopUnlessOver(deps, recording, recording.egressId);
  if (egress === undefined) return undefined;
  const applied = await applyStop(deps, recording, egress);
  // An end that the media server or another instance recorded first keeps its time, so that all callers get the same.
  const stoppedAt = applied.recording?.stoppedAt ?? deps.clock.now();
  return { id: recording.id, egressId: recording.egressId, stoppedAt: new Date(stoppedAt).toISOString() };
}

type EndDeps = EgressStateDeps & { readonly log: Log };

/** Returns the recordings and broadcasts of these rooms. Never rejects, because a room must be closable without a database. */
export async function listRunning(
  { store, log }: EndDeps,
  rooms: readonly string[],
): Promise<readonly Recording[]> {
  try {
    return await store.recordings.listActive(rooms);
  } catch (err) {
    log.warn({ err }, 'recordings of deleted rooms could not be looked up');
    return [];
  }
}

/**
 * Ends what runs in a room that is about to be deleted. A recorder that has not joined yet would make the room anew. An
 * egress of a start that still waits for a recorder is stopped when it begins, by its start or by stopLateStarts. Never
 * rejects, because a room must be closable without a recorder.
 */
export async function endRunning(deps: EndDeps, running: readonly Recording[]): Promise<void> {
  await Promise.all(running.map((recording) => endOne(deps, recording)));
}

async function endOne(deps: EndDeps, recording: Recording): Promise<void> {
  const { egressId, kind } = recording;
  try {
    if (egressId === null) {
      await applyObservation(deps, recording, { type: 'room-deleted', at: deps.clock.now() });
      return;
    }
    const egress = await stopUnlessOver(deps, recording, egressId);
    if (egress !== undefined) await applyStop(deps, recording, egress);
  } catch (error) {
    deps.log.warn({ err: error, kind }, 'stopping the recording of a deleted room failed');
  }
}

/**
 * Stops the egress. Returns undefined when there is nothing to stop: the egress has ended already, or its recorder is lost,
 * and the row was ended.
 */
async function stopUnlessOver(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<Egress | undefined> {
  try {
    return await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    const [egress] = await deps.mediaServer.listEgress({ egressId });
    // The recorder receives the stop when it has started. If it does not, the reconciler stops it again (endUnfinished).
    if (egress !== undefined && mayBeStarting(deps, recording, egress)) return egress;
    if (await hasSilentRecorder(deps, recording, egressId)) throw error;
    return undefined;
  }
}

async function noActiveRecording(deps: EgressStateDeps, room: string): Promise<ServiceError> {
  await getRoom(deps, room);
  return new ServiceError('no-active-recording', `The room ${JSON.stringify(room)} is not being recorded.`);
}

import {
  RecordingSettingsSchema,
  RecordingStartSchema,
  RecordingStatusSchema,
  RecordingStopSchema,
} from '../../contract/recordings.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { MEDIA_ERRORS } from '../platform/http/media-errors.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { getRecordingStatus } from './recordings.ts';
import { type RecordingDeps, startRecording } from './start-recording.ts';
import { stopRecording } from './stop-recording.ts';

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
    security: 'signed',
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
    security: 'signed',
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
    security: 'signed',
    scopes: ['read', 'recordings'],
    params: RoomParams,
    success: { 200: { description: 'Whether the room is being recorded', schema: RecordingStatusSchema } },
    errors: ['room-not-found', ...RECORDING_ERRORS],
    handle: async ({ params }) => ({ status: 200, body: await getRecordingStatus(deps, params.roomId) }),
  });
}

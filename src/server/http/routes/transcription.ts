import { ServiceError } from '../../../contract/errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { RecordingParams, RoomParams } from './parameters.ts';

/** No add-on is part of this deployment: the two calls that need one say which profile to start. */
export function transcriptionRoutes(): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/rooms/:roomId/transcription/start',
      operationId: 'startTranscription',
      tag: 'transcription',
      summary: 'Transcribe a room live',
      security: 'signed',
      params: RoomParams,
      success: {},
      errors: ['addon-unavailable'],
      handle: () => {
        throw unavailable('Live', 'stt-live');
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/recordings/:recordingId/transcribe',
      operationId: 'createTranscription',
      tag: 'transcription',
      summary: 'Transcribe a recording after the call',
      security: 'signed',
      params: RecordingParams,
      success: {},
      errors: ['addon-unavailable'],
      handle: () => {
        throw unavailable('Post-call', 'stt-post');
      },
    }),
  ];
}

function unavailable(kind: string, profile: string): ServiceError {
  return new ServiceError(
    'addon-unavailable',
    `${kind} transcription is not running: start the profile ${profile}.`,
  );
}

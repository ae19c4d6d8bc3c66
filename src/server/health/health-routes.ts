import { HealthSchema, ReadinessSchema } from '../../contract/health.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import { isWorkerAlive } from '../transcription/speech-workers.ts';
import type { TranscriptionStores } from '../transcription/store.ts';
import { checkReadiness, type DatabasePing } from './check-readiness.ts';

export type HealthDeps = {
  readonly version: string;
  readonly mediaServer: MediaServer;
  readonly store: DatabasePing & Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

export function healthRoutes(deps: HealthDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/health',
      operationId: 'getHealth',
      tag: 'service',
      summary: 'Say that the service runs, and what it can do',
      security: 'public',
      success: { 200: { description: 'The service runs', schema: HealthSchema } },
      errors: [],
      handle: async () => {
        const [transcriptionLive, transcriptionPost] = await Promise.all([
          isWorkerAlive(deps, 'stt-live'),
          isWorkerAlive(deps, 'stt-post'),
        ]);
        const capabilities = { transcriptionLive, transcriptionPost };
        return { status: 200, body: { status: 'ok', version: deps.version, capabilities } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'getReadiness',
      tag: 'service',
      summary: 'Check what the service needs: the media server and the database',
      security: 'public',
      success: {
        200: { description: 'Everything that the service needs answers', schema: ReadinessSchema },
        503: { description: 'Something does not answer; `checks` says what', schema: ReadinessSchema },
      },
      errors: [],
      handle: async () => {
        const readiness = await checkReadiness(deps);
        return { status: readiness.ready ? 200 : 503, body: readiness };
      },
    }),
  ];
}

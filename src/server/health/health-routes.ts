import { HealthSchema, ReadinessSchema } from '../../contract/health.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { createReadinessCheck, type ReadinessDeps } from './check-readiness.ts';
import { createWorkerStatus, type WorkerStatusDeps } from './worker-status.ts';

export type HealthDeps = ReadinessDeps &
  WorkerStatusDeps & {
    readonly version: string;
    /** True after the signal to shut down, while the service still serves requests. */
    readonly isShuttingDown: () => boolean;
    /** Since when events of the media server have been rejected (Unix milliseconds). */
    readonly eventsRefusedSince: () => number | undefined;
  };

export function healthRoutes(deps: HealthDeps): readonly Route[] {
  const checkReadiness = createReadinessCheck(deps);
  const readWorkerStatus = createWorkerStatus(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/health',
      operationId: 'getHealth',
      tag: 'service',
      summary: 'Show that the service runs, and what it can do',
      description: 'Needs no signature. The capabilities are those of the running transcription workers.',
      security: 'public',
      success: { 200: { description: 'The service runs', schema: HealthSchema } },
      errors: [],
      handle: async () => ({
        status: 200,
        body: { status: 'ok', version: deps.version, capabilities: await readWorkerStatus() },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'getReadiness',
      tag: 'service',
      summary: 'Check what the service needs: the media server and the database',
      description: 'For load balancers. Needs no signature. An instance that is shutting down is not ready.',
      security: 'public',
      success: {
        200: { description: 'Everything that the service needs responds', schema: ReadinessSchema },
        503: {
          description: 'A dependency does not respond; `checks` names it',
          schema: ReadinessSchema,
          example: { ready: false, checks: { mediaServer: false, database: true } },
        },
      },
      errors: [],
      handle: async () => {
        const { ready, checks } = await checkReadiness();
        const refusedSince = deps.eventsRefusedSince();
        const readiness = {
          ready: ready && !deps.isShuttingDown(),
          checks,
          ...(refusedSince === undefined ? {} : { eventsRefusedSince: new Date(refusedSince).toISOString() }),
        };
        return { status: readiness.ready ? 200 : 503, body: readiness };
      },
    }),
  ];
}

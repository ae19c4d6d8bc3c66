import { Type } from 'typebox';
import { defineRoute, type Route } from '../platform/http/route.ts';

export type MetricsDeps = { readonly contentType: string; readonly render: () => Promise<string> };

/**
 * This route needs a signature, because metrics are not public. METRICS=host:port serves them without signatures on a port
 * of their own.
 */
export function metricsRoutes(deps: MetricsDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      tag: 'service',
      summary: 'Prometheus metrics of this instance',
      description:
        'Requests must be signed, because metrics are not public. METRICS=host:port serves them unsigned on a separate port.',
      security: 'signed',
      scopes: ['read'],
      success: {
        200: {
          description: 'Metrics in the Prometheus text format',
          schema: Type.String(),
          example: '# TYPE rtc_http_request_duration_seconds histogram',
          contentType: 'text/plain',
        },
      },
      errors: [],
      handle: async () => ({
        status: 200,
        body: await deps.render(),
        headers: { 'content-type': deps.contentType },
      }),
    }),
  ];
}

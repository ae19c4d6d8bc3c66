import { Type } from 'typebox';
import { defineRoute, type Route } from '../platform/http/route.ts';

export type MetricsDeps = { readonly contentType: string; readonly render: () => Promise<string> };

/** Signed: what the numbers tell is not for everybody. A port of its own serves them unsigned. */
export function metricsRoutes(deps: MetricsDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      tag: 'service',
      summary: 'Prometheus metrics of this instance',
      security: 'signed',
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

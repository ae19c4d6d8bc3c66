import type { FastifyInstance } from 'fastify';
import { type AppDeps, buildApp } from '../../src/server/app/app.ts';
import { defineRoute, type Route } from '../../src/server/platform/http/route.ts';
import type { Log, LogFields } from '../../src/server/platform/log.ts';
import { ManualClock } from './manual-clock.ts';

export const TEST_KEY = 'the-api-key';
export const TEST_SECRET = 'the-api-secret';
export const TEST_NOW_SECONDS = 1_767_225_600;

export type LogLine = { readonly level: keyof Log; readonly message: string; readonly fields: LogFields };

export function collectingLog(lines: LogLine[]): Log {
  const keep = (level: keyof Log) => (fields: LogFields, message: string) => {
    lines.push({ level, message, fields });
  };
  return { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** Makes an app with the test's own routes, without limits, with a clock that does not advance. */
export function buildTestApp(
  routes: readonly Route[],
  deps: Partial<AppDeps> = {},
): Promise<FastifyInstance> {
  return buildApp({
    routes,
    authentication: {
      clock: new ManualClock(TEST_NOW_SECONDS * 1000),
      apiKey: TEST_KEY,
      apiSecrets: [TEST_SECRET],
      acceptsSingleHeader: false,
    },
    log: collectingLog([]),
    rateLimits: { api: 0, public: 0 },
    bodyLimitBytes: 1_048_576,
    trustProxy: false,
    ...deps,
  });
}

/** Makes a route that responds with the result of `handle`, and declares nothing. */
export function testRoute(
  route: Pick<Route, 'method' | 'path' | 'security'> & Partial<Route> & { readonly handle: Route['handle'] },
): Route {
  return defineRoute({
    operationId: `${route.method}${route.path}`,
    tag: 'service',
    summary: 'Of a test',
    success: { 200: { description: 'Whatever' } },
    errors: [],
    ...(route.security === 'signed' ? { scopes: 'any' } : {}),
    ...route,
  } as never);
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ErrorFormat, Route } from './route.ts';
import { allowedMethods } from './route-table.ts';

/** CORS (Fetch standard, section 3.3): any page may call without credentials and read the rate-limit headers. */
export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Allow, Link',
};

const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-headers': 'Content-Type, X-Request-Id',
  'access-control-max-age': '86400',
};

/**
 * Returns the error format of the request's route, or of its path when there is no such route. Undefined means problems.
 */
export function errorFormatOf(routes: readonly Route[], request: FastifyRequest): ErrorFormat | undefined {
  const { route } = request.routeOptions.config;
  if (route !== undefined) return route.errorFormat;
  const [path = '/'] = (request.raw.url ?? '/').split(/[?#]/);
  const isBelow = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  return routes.find(({ errorFormat }) => errorFormat?.paths.some(isBelow))?.errorFormat;
}

/** Registers OPTIONS for each path that browsers may call. */
export function registerPreflights(app: FastifyInstance, routes: readonly Route[]): void {
  const open = routes.filter(({ errorFormat }) => errorFormat?.isOpenToBrowsers);
  for (const [path, [route, ...others]] of Map.groupBy(open, ({ path }) => path)) {
    const methods = [route, ...others].map((open) => open?.method).join(', ');
    const allow = allowedMethods(routes, path).join(', ');
    app.route({
      method: 'OPTIONS',
      url: path,
      config: route === undefined ? {} : { route },
      handler: (_request, reply) =>
        reply
          .code(204)
          .headers({ ...PREFLIGHT_HEADERS, 'access-control-allow-methods': methods, allow })
          .send(),
    });
  }
}

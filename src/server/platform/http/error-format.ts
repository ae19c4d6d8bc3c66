import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Dialect, Route } from './route.ts';
import { allowedMethods } from './route-table.ts';

/** Fetch standard, section 3.3: any page may call, without credentials, and read what we say about limits. */
export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Allow',
};

const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-headers': 'Content-Type, X-Request-Id',
  'access-control-max-age': '86400',
};

/** That of the route, or of the path where no route is; undefined where the service's own way is spoken. */
export function dialectOf(routes: readonly Route[], request: FastifyRequest): Dialect | undefined {
  const { route } = request.routeOptions.config;
  if (route !== undefined) return route.dialect;
  const [path = '/'] = (request.raw.url ?? '/').split(/[?#]/);
  const isSpokenAt = (home: string): boolean => path === home || path.startsWith(`${home}/`);
  return routes.find(({ dialect }) => dialect?.paths.some(isSpokenAt))?.dialect;
}

/** One OPTIONS for each path that is open to browsers, and none for the others. */
export function registerPreflights(app: FastifyInstance, routes: readonly Route[]): void {
  const open = routes.filter(({ dialect }) => dialect?.isOpenToBrowsers);
  for (const [path, [route, ...others]] of Map.groupBy(open, ({ path }) => path)) {
    const methods = [route, ...others].map((each) => each?.method).join(', ');
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

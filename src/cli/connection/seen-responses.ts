import type { Observer } from '../../client/client-options.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';

/**
 * Every response of the service has X-Request-Id. A response without it may come through a proxy that drops the header, or
 * from another service: then the command fails on its shape, and the error names the address instead of rtc.
 */
export type SeenResponses = {
  unmarked:
    | { readonly origin: string; readonly method: string; readonly path: string; readonly status: number }
    | undefined;
};

/** Returns the observer, which also keeps the last successful response without the service's mark. */
export function keepingUnmarked(seen: SeenResponses, observer: Observer = {}): Observer {
  return {
    ...observer,
    onResponse: (request, response, elapsedMs) => {
      const { origin, method, path } = request;
      const { status, headers } = response;
      if (status < 300 && headers['x-request-id'] === undefined)
        seen.unmarked = { origin, method, path, status };
      observer.onResponse?.(request, response, elapsedMs);
    },
  };
}

export function notThisService({ unmarked }: SeenResponses): CliError {
  const { origin = '', method = '', path = '', status = 0 } = unmarked ?? {};
  return new CliError(
    EXIT.failure,
    `${origin} is not this service: it responded to ${method} ${path} with ${status} and data of another shape`,
    'correct its URL: rtc profile show, or --url',
  );
}

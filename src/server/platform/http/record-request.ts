import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../contract/errors.ts';
import type { Clock } from '../clock.ts';
import { requireCaller } from './caller.ts';
import { cutAddress } from './limits/rate-limits.ts';
import type { Route, RouteResponse } from './route.ts';
import { toServiceError } from './send-error.ts';

/** A recorded request: who, when, what, from where, and with which result. It has no body and no secret. */
export type RecordedRequest = {
  /**
   * Whether the request changed something or tried to. Other requests are recorded when they fail, so that their ids can be
   * looked up.
   */
  readonly isChange: boolean;
  readonly occurredAt: number;
  readonly keyId: string;
  readonly method: string;
  /** Path with the names of its parameters instead of their values. */
  readonly path: string;
  /** The received values of the path's parameters, which may be invalid, and the ids of created objects. */
  readonly ids: Readonly<Record<string, string>>;
  readonly address: string | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | undefined;
};

export type RequestRecorder = {
  readonly clock: Pick<Clock, 'now'>;
  readonly record: (request: RecordedRequest) => void;
};

/**
 * Runs the request and records its result, whether the caller waits for the response or not. Reads and requests for tokens
 * change nothing and are frequent: they are recorded only when they fail. A request for a token that lacks the scope counts
 * as a rejected change.
 */
export async function recordingRequest(
  recorder: RequestRecorder | undefined,
  { route, request }: { readonly route: Route; readonly request: FastifyRequest },
  work: () => Promise<RouteResponse> | RouteResponse,
): Promise<RouteResponse> {
  if (recorder === undefined || route.security !== 'signed') return await work();
  const isChange = route.method !== 'GET' && route.tag !== 'tokens';
  const occurredAt = recorder.clock.now();
  const { keyId } = requireCaller(request.caller);
  // It is read now, because a closed socket has no address, and cut only for a request that is recorded.
  const { ip } = request;
  const params = request.params as Readonly<Record<string, string>>;
  const record = (outcome: Outcome): void => {
    const { method, path } = route;
    recorder.record({
      ...{ occurredAt, keyId, method, path, address: cutAddress(ip, STORED_BITS), requestId: request.id },
      ...outcome,
    });
  };
  try {
    const response = await work();
    const { status, ids } = response;
    if (isChange) record({ isChange, ids: { ...params, ...ids }, status, problem: undefined });
    return response;
  } catch (error) {
    const { status, code } = toServiceError(error);
    const isRefusedKey = route.tag === 'tokens' && code === 'insufficient-scope';
    record({ isChange: isChange || isRefusedKey, ids: params, status, problem: code });
    throw error;
  }
}

type Outcome = Pick<RecordedRequest, 'isChange' | 'ids' | 'status' | 'problem'>;

/** Bits of an address that are kept: too few to identify a person. */
const STORED_BITS = { ipv4: 24, ipv6: 48 } as const;

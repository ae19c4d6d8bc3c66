import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../contract/errors.ts';
import type { Clock } from '../clock.ts';
import { requireCaller } from './caller.ts';
import { cutAddress } from './cut-address.ts';
import { toServiceError } from './problem-response.ts';
import type { Route, RouteResponse } from './route.ts';

/** A request that changed something, or was to: who, when, what, from where, and how it ended. No body, no secret. */
export type ChangingRequest = {
  readonly occurredAt: number;
  readonly keyId: string;
  readonly method: string;
  /** With the names of its parameters. */
  readonly path: string;
  /** The parameters of the path as they came, perhaps not valid, and the ids of what was made. */
  readonly ids: Readonly<Record<string, string>>;
  readonly address: string | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | undefined;
};

export type ChangeRecorder = {
  readonly clock: Pick<Clock, 'now'>;
  readonly record: (request: ChangingRequest) => void;
};

/**
 * Runs the request and records how it ended, whether the caller waits for the response or not. Tokens change nothing and
 * are many: theirs is recorded only where the key may not ask for them.
 */
export async function recordingChange(
  recorder: ChangeRecorder | undefined,
  { route, request }: { readonly route: Route; readonly request: FastifyRequest },
  work: () => Promise<RouteResponse>,
): Promise<RouteResponse> {
  if (recorder === undefined || route.security !== 'signed' || route.method === 'GET') return await work();
  const isToken = route.tag === 'tokens';
  const begun = {
    occurredAt: recorder.clock.now(),
    keyId: requireCaller(request.caller).keyId,
    method: route.method,
    path: route.path,
    address: cutAddress(request.ip),
    requestId: request.id,
  };
  const params = request.params as Readonly<Record<string, string>>;
  try {
    const response = await work();
    const { status, ids } = response;
    if (!isToken) recorder.record({ ...begun, ids: { ...params, ...ids }, status, problem: undefined });
    return response;
  } catch (error) {
    const { status, code } = toServiceError(error);
    const isRecorded = !isToken || code === 'insufficient-scope';
    if (isRecorded) recorder.record({ ...begun, ids: params, status, problem: code });
    throw error;
  }
}

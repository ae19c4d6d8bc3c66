import type { Problem } from '../../../../src/contract/problem.ts';
import type { TestService } from '../../../support/service.ts';

export type CallOutcome = { readonly status: number; readonly code: string | undefined };

/** Returns a function that calls the service, and returns the status and the problem's code, if there is one. */
export function listCalls(service: () => TestService) {
  return async (method: string, path: string, body?: unknown): Promise<CallOutcome> => {
    const { status, json } = await service().call(method, path, body === undefined ? {} : { body });
    return { status, code: (json as Problem | undefined)?.type?.split(':').at(-1) };
  };
}

import type { AuditEntry } from '../../../contract/audit.ts';
import type { Moment } from './explanation.ts';

/** Describes a request that changed something, or tried to. */
export function momentOfRequest(request: AuditEntry): Moment {
  const { occurredAt, requestId, status } = request;
  return {
    at: occurredAt,
    text: describeRequest(request),
    source: 'request',
    id: requestId,
    isTrouble: status >= 400,
  };
}

/** Formats `DELETE /v1/rooms/demo by key root was refused: 404 room-not-found`. */
export function describeRequest({ method, path, ids, keyId, status, problem }: AuditEntry): string {
  const named = path.replaceAll(/:(\w+)/g, (parameter, name: string) => ids[name] ?? parameter);
  const outcome = `${status}${problem === null ? '' : ` ${problem}`}`;
  return `${method} ${named} by key ${keyId} ${endOf(status)}: ${outcome}`;
}

function endOf(status: number): string {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'was refused' : 'was done';
}

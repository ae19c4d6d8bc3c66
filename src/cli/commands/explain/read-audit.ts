import { RtcError } from '../../../client/rtc-error.ts';
import type { AuditEntry, AuditListQuery } from '../../../contract/audit.ts';
import type { Reading } from './explain-deliveries.ts';

const PAGE = 200;

type Wanted = Pick<AuditListQuery, 'room' | 'since' | 'requestId'>;

/**
 * Reads requests that changed something, the oldest first; of very many only the last ones. Returns undefined when the key
 * may not read the audit log, or when the service's version has none.
 */
export async function readAudit(
  { client, signal }: Reading,
  wanted: Wanted,
): Promise<readonly AuditEntry[] | undefined> {
  try {
    const { entries } = await client.audit.list({ ...wanted, limit: PAGE, signal });
    return entries.toReversed();
  } catch (error) {
    if (error instanceof RtcError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

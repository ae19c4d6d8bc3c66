import type { AuditEntry } from '../../../contract/audit.ts';
import type { AuditResult } from '../../../contract/choices.ts';
import { Status, type Tone } from '../parts/status.tsx';

const TONES: Readonly<Record<AuditResult, Tone>> = { done: 'good', refused: 'warning', failed: 'bad' };

/** The result of a request: `204`, `404 room-not-found`. */
export function AuditStatus({ entry }: { readonly entry: AuditEntry }) {
  const { status, result, problem } = entry;
  return (
    <Status tone={TONES[result]}>
      {status}
      {problem !== null && ` ${problem}`}
    </Status>
  );
}

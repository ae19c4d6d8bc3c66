import type { AuditEntry } from '../../../contract/audit.ts';
import { PROBLEMS } from '../../../contract/errors.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { Explanation, NextStep } from './explanation.ts';
import { describeRequest, momentOfRequest } from './timeline.ts';

/** Explains a request by its id, which every error has. */
export function explainRequest(requestId: string, entries: readonly AuditEntry[]): Explanation | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const isTrouble = last.status >= 400;
  return {
    subject: { kind: 'request', id: requestId },
    headline: `Request ${requestId}: ${describeRequest(last)}.`,
    timeline: entries.map(momentOfRequest),
    troubles: isTrouble ? [explainProblem(last.problem)] : [],
    next: suggestNext(last),
  };
}

function explainProblem(problem: string | null): string {
  const known = Object.entries(PROBLEMS).find(([code]) => code === problem);
  return known?.[1].meaning ?? 'the service gives no reason';
}

function suggestNext({ requestId, status, ids }: AuditEntry): readonly NextStep[] {
  const { roomId } = ids;
  return [
    ...(status >= 500
      ? [{ text: `the service's log has the cause: look for ${requestId} there`, command: null }]
      : []),
    ...(roomId === undefined
      ? []
      : [
          {
            text: 'see what happened in its room',
            command: `rtc explain --as room -- ${shellQuote(roomId)}`,
          },
        ]),
  ];
}

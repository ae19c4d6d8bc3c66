import {
  isBodySignatureValid,
  isStandardSignatureValid,
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  WEBHOOK_TOLERANCE_SECONDS,
} from '../../../contract/webhook-signing.ts';
import { formatDuration } from '../../terminal/time.ts';
import type { SignedRequest } from './signed-request.ts';

/*
 * A wrong signature has no reason. But the usual mistakes are known: a secret without its prefix, a body that a framework
 * has parsed and serialised again, a clock. Each is tried, so that the result can name it.
 */

export type Verdict = {
  readonly header: string;
  readonly result: 'match' | 'mismatch' | 'absent';
  /** Why the signature does not match; null when it does. */
  readonly reason: string | null;
};

export type VerifyOptions = {
  readonly secret: string;
  readonly nowMs: number;
  /** Whether the age of the timestamp is ignored, for a stored request. */
  readonly isAnyAge: boolean;
};

/** Returns one verdict for each of the two schemes. */
export function verifySignatures(request: SignedRequest, options: VerifyOptions): readonly Verdict[] {
  const specified = verifySpecified(request, options.secret);
  const standard = verifyStandard(request, options);
  return [explainBy(specified, standard, request), explainBy(standard, specified, request)];
}

/** A verdict, and whether the signature itself is right, which that of an old request is too. */
type Finding = Verdict & { readonly isSigned: boolean };

const UNKNOWN = 'another secret signed it, or the body is not the one that was signed';

function verifySpecified({ headers, body }: SignedRequest, secret: string): Finding {
  const header = WEBHOOK_SIGNATURE_HEADER;
  const given = headers.get(header);
  if (given === undefined) return absent(header);
  if (!/^sha256=[0-9a-f]{64}$/.test(given)) {
    return mismatch(header, 'it is not of the form sha256=<64 lower-case hex digits>');
  }
  const isValid = (tried: Tried): boolean => isBodySignatureValid(tried.body, given, tried.secret);
  return judge(header, isValid, { secret, body });
}

function verifyStandard(request: SignedRequest, options: VerifyOptions): Finding {
  const header = STANDARD_SIGNATURE_HEADER;
  const { headers, body } = request;
  const given = headers.get(header);
  if (given === undefined) return absent(header);
  const id = headers.get(WEBHOOK_ID_HEADER);
  if (id === undefined) return mismatch(header, `${WEBHOOK_ID_HEADER} is missing, which is signed too`);
  const text = headers.get(WEBHOOK_TIMESTAMP_HEADER);
  if (text === undefined)
    return mismatch(header, `${WEBHOOK_TIMESTAMP_HEADER} is missing, which is signed too`);
  if (!/^\d{1,12}$/.test(text))
    return mismatch(header, `${WEBHOOK_TIMESTAMP_HEADER} is not a Unix time in seconds`);
  if (!/(?:^| )v1,/.test(given)) return mismatch(header, 'it has no signature of version v1');
  const timestamp = Number(text);
  const isValid = (tried: Tried): boolean =>
    isStandardSignatureValid({ id, timestamp, body: tried.body }, given, tried.secret);
  const finding = judge(header, isValid, { secret: options.secret, body });
  const age = options.isAnyAge ? undefined : ageError(timestamp, options.nowMs);
  if (!finding.isSigned || age === undefined) return finding;
  return { ...mismatch(header, age), isSigned: true };
}

function ageError(timestamp: number, nowMs: number): string | undefined {
  const age = Math.floor(nowMs / 1000) - timestamp;
  if (Math.abs(age) <= WEBHOOK_TOLERANCE_SECONDS) return undefined;
  const allowed = `at most ${WEBHOOK_TOLERANCE_SECONDS} s are allowed`;
  return age > 0
    ? `the timestamp is ${formatDuration(age)} old (${allowed}); the signature itself is right`
    : `the timestamp is ${formatDuration(-age)} ahead of this clock (${allowed}); the signature itself is right`;
}

type Tried = { readonly secret: string; readonly body: string };

function judge(header: string, isValid: (tried: Tried) => boolean, given: Tried): Finding {
  if (isValid(given)) return { header, result: 'match', reason: null, isSigned: true };
  for (const [secret, reason] of otherSecrets(given.secret)) {
    if (isValid({ ...given, secret })) return mismatch(header, reason);
  }
  for (const [body, reason] of otherBodies(given.body)) {
    if (isValid({ ...given, body })) return mismatch(header, reason);
  }
  return mismatch(header, given.secret === '***' ? 'the secret is the mask *** that lists show' : UNKNOWN);
}

type Variants = readonly (readonly [text: string, reason: string])[];

function otherSecrets(secret: string): Variants {
  const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
  return [
    [bare, 'the secret is given with spaces or quotes around it'],
    [`whsec_${bare}`, 'the secret lacks its beginning, whsec_'],
  ];
}

function otherBodies(body: string): Variants {
  const rewritten = rewrite(body);
  return [
    [body.replace(/(?:\r?\n)+$/, ''), 'the body has a line end more than the one that was signed'],
    [body.replaceAll('\r\n', '\n'), 'the line ends of the body were changed'],
    ...(rewritten === undefined
      ? []
      : [[rewritten, 'the body was changed: parsed and written again; the raw bytes are signed'] as const]),
  ];
}

/** Serialises the body like the service; undefined for a body that is not JSON. */
function rewrite(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** Explains why one signature does not match by what the other one proves. */
function explainBy(finding: Finding, other: Finding, { headers }: SignedRequest): Verdict {
  const { header, result } = finding;
  if (finding.reason !== UNKNOWN || !other.isSigned) return { header, result, reason: finding.reason };
  return { header, result, reason: reasonByOther(header, headers) };
}

function reasonByOther(header: string, headers: SignedRequest['headers']): string {
  if (header === STANDARD_SIGNATURE_HEADER) {
    return `secret and body are right: ${WEBHOOK_ID_HEADER}, ${WEBHOOK_TIMESTAMP_HEADER} or this header was changed`;
  }
  const isRotated = (headers.get(STANDARD_SIGNATURE_HEADER) ?? '').trim().includes(' ');
  return isRotated
    ? 'the secret was rotated: this header is signed with the new one only'
    : 'secret and body are right: this header was changed';
}

function absent(header: string): Finding {
  return { header, result: 'absent', reason: 'there is no such header', isSigned: false };
}

function mismatch(header: string, reason: string): Finding {
  return { header, result: 'mismatch', reason, isSigned: false };
}

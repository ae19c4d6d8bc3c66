import {
  isBodySignatureValid,
  isStandardSignatureValid,
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  WEBHOOK_TOLERANCE_SECONDS,
} from '../../../contract/webhook-signing.ts';
import { usageError } from '../../errors/cli-error.ts';
import { formatDuration } from '../../terminal/time.ts';

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

type VerifyOptions = {
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

/** A request as a receiver got it: names of headers in lower case, and the raw body. */
export type SignedRequest = { readonly headers: ReadonlyMap<string, string>; readonly body: string };

/** Parses a whole request as a proxy or a log shows it: an optional request line, headers, an empty line, the body. */
export function parseRequest(text: string): SignedRequest {
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null)
    throw usageError(
      '--request has no empty line between headers and body',
      'pass the request as it arrived: headers, an empty line, the body',
    );
  const head = text.slice(0, end.index).replace(/^[A-Z]+ \S+ HTTP\/\S+\r?\n/, '');
  return { headers: parseHeaders(head, '--request'), body: text.slice(end.index + end[0].length) };
}

/** Parses `name: value` lines, or a JSON object of names and values. */
export function parseHeaders(text: string, option: string): ReadonlyMap<string, string> {
  const json = text.trimStart().startsWith('{') ? jsonHeaders(text) : undefined;
  if (json !== undefined) return json;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return new Map(lines.map((line) => parseHeader(line, option)));
}

export function parseHeader(line: string, option: string): readonly [name: string, value: string] {
  const header = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(line);
  if (header?.[1] !== undefined) return [header[1].toLowerCase(), header[2] ?? ''];
  throw usageError(
    `${option} ${JSON.stringify(line)} is not a header`,
    "write it such as 'webhook-id: evt_1'",
  );
}

function jsonHeaders(text: string): ReadonlyMap<string, string> | undefined {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return new Map(Object.entries(value).map(([name, each]) => [name.toLowerCase(), String(each)]));
  } catch {
    // Not JSON: then each line must be a header, and the first other one is named.
    return undefined;
  }
}

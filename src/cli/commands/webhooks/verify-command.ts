import { formatDuration } from '../../../contract/amounts.ts';
import { isObject, parseJson } from '../../../contract/unknown-value.ts';
import {
  isBodySignatureValid,
  isStandardSignatureValid,
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  WEBHOOK_TOLERANCE_SECONDS,
} from '../../../contract/webhook-signing.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { asText, defineCommand, flag, option, type Parameter } from '../../framework/parameters.ts';
import { type Column, list } from '../../terminal/result.ts';
import { printWarning } from '../../terminal/terminal.ts';
import { SECRET_VARIABLE, secretOfEnvironment } from '../events/forward.ts';
import { readGivenSecret, SECRET_STDIN, type SecretOptions } from './webhook-arguments.ts';

const HEADERS: Parameter<readonly string[]> = {
  flags: '-H, --header <header...>',
  description: "a header as 'name: value'; several are allowed",
  isRequired: false,
  isList: true,
  source: 'typed',
};

const RESULTS = { match: 'good', mismatch: 'bad', absent: 'faint' } as const;

const SHOWN = { match: 'matches', mismatch: 'does not match', absent: 'absent' } as const;

const COLUMNS: readonly Column<Verdict>[] = [
  { heading: 'SIGNATURE', value: (verdict) => verdict.header, paint: 'name' },
  {
    heading: 'RESULT',
    value: (verdict) => verdict.result,
    display: (verdict) => SHOWN[verdict.result],
    paint: (verdict) => RESULTS[verdict.result],
  },
  { heading: 'WHY', value: (verdict) => verdict.reason ?? '' },
];

export const verify = defineCommand({
  verb: 'verify',
  summary: 'Check the signatures of a received delivery, offline',
  description: `Checks both headers, X-Service-Webhook-Signature and webhook-signature, and says why a signature does not match. The secret comes from ${SECRET_VARIABLE} or stdin. The exit code is 7 unless every header that is present matches.`,
  needs: 'nothing',
  fields: ['header', 'result', 'reason'],
  options: {
    header: HEADERS,
    headers: option('--headers <text>', "all of them: 'name: value' lines or a JSON object", {
      parse: asText,
      source: 'typed-or-file',
    }),
    body: option('--body <text>', 'the raw body, byte for byte', { parse: asText, source: 'typed-or-file' }),
    request: option('--request <text>', 'the whole request instead: headers, an empty line, the body', {
      parse: asText,
      source: 'typed-or-file',
    }),
    secretStdin: SECRET_STDIN,
    anyAge: flag('--any-age', 'accept a timestamp of any age'),
  },
  examples: [
    { line: 'rtc webhooks verify --request @delivery.txt', does: `With the secret of ${SECRET_VARIABLE}` },
    {
      line: "rtc webhooks verify --body @body.json -H 'X-Service-Webhook-Signature: sha256=2c26…' --secret-stdin < secret.txt",
      does: 'One header and the body',
    },
    {
      line: 'rtc webhooks verify --headers @headers.json --body @body.json --any-age',
      does: 'A delivery from yesterday',
    },
  ],
  async run(context, { secretStdin, anyAge, ...parts }) {
    const request = readRequest(parts);
    const secret = await readSecret(context, { secretStdin });
    const verdicts = verifySignatures(request, { secret, nowMs: context.io.clock(), isAnyAge: anyAge });
    warnAboutEventName(context, request);
    const isValid =
      verdicts.some(({ result }) => result === 'match') &&
      verdicts.every(({ result }) => result !== 'mismatch');
    return list({
      response: { valid: isValid, signatures: verdicts },
      records: verdicts,
      columns: COLUMNS,
      identify: (verdict) => verdict.header,
      empty: '',
      isWrapped: true,
      exitCode: isValid ? EXIT.success : EXIT.negative,
    });
  },
});

type Parts = {
  readonly header: readonly string[];
  readonly headers: string | undefined;
  readonly body: string | undefined;
  readonly request: string | undefined;
};

/** Headers that are given as options override the headers of the request. */
function readRequest({ header, headers, body, request }: Parts): SignedRequest {
  const whole = request === undefined ? undefined : parseRequest(request);
  const all = new Map([
    ...(whole?.headers ?? []),
    ...(headers === undefined ? [] : parseHeaders(headers, '--headers')),
    ...header.map((line) => parseHeader(line, '--header')),
  ]);
  const text = body ?? whole?.body;
  const missing = [...(all.size === 0 ? ['--header'] : []), ...(text === undefined ? ['--body'] : [])];
  if (text === undefined || missing.length > 0) {
    throw usageError(
      `missing ${missing.join(' and ')}`,
      'add it, or pass the whole request with --request @file',
    );
  }
  return { headers: all, body: text };
}

async function readSecret(context: Context, options: SecretOptions): Promise<string> {
  const given = (await readGivenSecret(context, options)) ?? secretOfEnvironment(context);
  if (given !== undefined) return given;
  if (context.prompter.isInteractive) return context.prompter.secret('Signing secret:');
  throw usageError('no signing secret', `set ${SECRET_VARIABLE}, or give it with --secret-stdin`);
}

/** The name in the header is not signed, so that a receiver should use the body. */
function warnAboutEventName({ terminal }: Context, { headers, body }: SignedRequest): void {
  const named = headers.get(WEBHOOK_EVENT_HEADER);
  const inBody = /^\s*\{\s*"event"\s*:\s*"(\w+)"/.exec(body)?.[1];
  if (named === undefined || inBody === undefined || named === inBody) return;
  printWarning(
    terminal,
    `${WEBHOOK_EVENT_HEADER} says ${named}, but the body says ${inBody}; the header is not signed`,
  );
}

/*
 * A wrong signature has no reason. But the usual mistakes are known: a secret without its prefix, a body that a framework
 * has parsed and serialised again, a clock. Each is tried, so that the result can name it.
 */

type Verdict = {
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
function verifySignatures(request: SignedRequest, options: VerifyOptions): readonly Verdict[] {
  const specified = verifySpecified(request, options.secret);
  const standard = verifyStandard(request, options);
  return [explainBy(specified, standard, request), explainBy(standard, specified, request)];
}

/** A verdict, and whether the signature itself is right: it also is in an old request, which is refused for its age. */
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
    [bare.replace(/^v1,/, ''), 'the secret begins with v1, as only signatures do'],
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
  const value = parseJson(body);
  return value === undefined ? undefined : JSON.stringify(value);
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
type SignedRequest = { readonly headers: ReadonlyMap<string, string>; readonly body: string };

/** Parses a whole request as a proxy or a log shows it: an optional request line, headers, an empty line, the body. */
function parseRequest(text: string): SignedRequest {
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
function parseHeaders(text: string, option: string): ReadonlyMap<string, string> {
  const json = text.trimStart().startsWith('{') ? jsonHeaders(text) : undefined;
  if (json !== undefined) return json;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return new Map(lines.map((line) => parseHeader(line, option)));
}

function parseHeader(line: string, option: string): readonly [name: string, value: string] {
  const header = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(line);
  if (header?.[1] !== undefined) return [header[1].toLowerCase(), header[2] ?? ''];
  throw usageError(
    `${option} ${JSON.stringify(line)} is not a header`,
    "write it such as 'webhook-id: evt_1'",
  );
}

function jsonHeaders(text: string): ReadonlyMap<string, string> | undefined {
  const value = parseJson(text);
  // Without JSON, each line must be a header, and the first other one is named.
  if (!isObject(value)) return undefined;
  return new Map(Object.entries(value).map(([name, each]) => [name.toLowerCase(), String(each)]));
}

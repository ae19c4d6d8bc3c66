import { WEBHOOK_EVENT_HEADER } from '../../../contract/webhook-signing.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { asText, flag, option, type Parameter } from '../../framework/parameters.ts';
import { type Column, list } from '../../terminal/result.ts';
import { printWarning } from '../../terminal/terminal.ts';
import { SECRET_VARIABLE, secretOfEnvironment } from '../events/forward.ts';
import {
  parseHeader,
  parseHeaders,
  parseRequest,
  type SignedRequest,
  type Verdict,
  verifySignatures,
} from './verify-signatures.ts';
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
  noun: 'webhooks',
  verb: 'verify',
  summary: 'Check the signatures of a received delivery, offline',
  description: `Checks both headers, X-Service-Webhook-Signature and webhook-signature, and says why a signature does not match. The secret comes from ${SECRET_VARIABLE} or stdin. The exit code is 7 unless every header that is present matches.`,
  needs: 'nothing',
  fields: ['header', 'result', 'reason'],
  arguments: {},
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

/** Headers of the options override those of the request. */
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

import { createHash, createHmac } from 'node:crypto';
import type { RawRequest } from '../../test/support/raw-http.ts';
import type { Signing } from '../../test/support/sign.ts';

/*
 * The expected decision about a request, computed from its bytes and the specification alone. It uses no code of the
 * service, and not the code that signed the request.
 */

export type Judgement =
  | { readonly kind: 'authentic' }
  /** Not HTTP, or with a malformed header. It is refused before the signature is checked. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'refused'; readonly problem: RefusalProblem }
  /** A path outside /v1. It needs no signature, and nothing is served there. */
  | { readonly kind: 'elsewhere' }
  /** The timestamp is at a limit, and the clock may have moved. */
  | { readonly kind: 'undecided' };

export type RefusalProblem =
  | 'missing-credentials'
  | 'invalid-api-key'
  | 'timestamp-out-of-window'
  | 'invalid-signature';

const WINDOW_SECONDS = 300;
/** Time between the reading of the clock here and in the service. */
const CLOCK_SLACK_SECONDS = 5;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const METHODS = /^[A-Z]+(-[A-Z]+)*$/;

export function judge(request: RawRequest, keys: Omit<Signing, 'timestamp'>, now: number): Judgement {
  const { method, target, headers, body } = request;
  const isWellFormed = headers.every(
    ([name, value]) => TOKEN.test(name) && ![...value].some((letter) => isControl(letter)),
  );
  if (!isWellFormed || !METHODS.test(method) || !isTarget(target)) return { kind: 'malformed' };
  if (!/^\/(v|%76)(1|%31)([/?#;]|$)/.test(target)) return { kind: 'elsewhere' };
  const headerValue = (wanted: string): string | undefined => {
    const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => trim(value));
    return values.length === 0 ? undefined : values.join(', ');
  };
  const refused = (problem: RefusalProblem): Judgement => ({ kind: 'refused', problem });
  const key = headerValue('x-api-key');
  if (key === undefined || key === '') return refused('missing-credentials');
  if (key !== keys.apiKey) return refused('invalid-api-key');
  const timestamp = headerValue('x-service-timestamp');
  const signature = headerValue('x-service-signature');
  if (!timestamp || !signature) return refused('missing-credentials');
  if (!/^\d{1,12}$/.test(timestamp)) return refused('timestamp-out-of-window');
  const skew = Math.abs(Number(timestamp) - now);
  if (Math.abs(skew - WINDOW_SECONDS) <= CLOCK_SLACK_SECONDS) return { kind: 'undecided' };
  if (skew > WINDOW_SECONDS) return refused('timestamp-out-of-window');
  const digest = createHash('sha256').update(body).digest('hex');
  const lines = `${method}\n${target}\n${timestamp}\n${digest}`;
  const expected = createHmac('sha256', keys.apiSecret).update(lines).digest('hex');
  return signature.toLowerCase() === expected ? { kind: 'authentic' } : refused('invalid-signature');
}

function isControl(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return (code < 0x20 && letter !== '\t') || code === 0x7f;
}

function isTarget(target: string): boolean {
  return /^\/[\x21-\x7e]*$/.test(target);
}

/** Optional white space around a value is not part of it. */
function trim(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

import { RtcError } from '../../../client/rtc-error.ts';
import type { SelfCheck } from '../../../contract/self-check.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '../../../contract/signing.ts';
import { parseJson, readMembers } from '../../../contract/unknown-value.ts';
import { openClient } from '../../connection/connect.ts';
import { maskKey } from '../../connection/request-trace.ts';
import { readCredentials, type Settings } from '../../connection/settings.ts';
import { describeError } from '../../errors/describe-error.ts';
import { describeSkew, hintLine } from '../../errors/hints.ts';
import type { Context } from '../../framework/context.ts';

/** `note`: something optional is missing, and nothing is wrong. */
export type CheckStatus = 'ok' | 'note' | 'fault' | 'warning' | 'skipped';

/** One line of `rtc doctor`. */
export type Check = {
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** The next step for the user; empty when there is none. */
  readonly next: string;
};

export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/** Time limit: long enough for a slow service, short enough for a waiting user. */
export const CHECK_TIMEOUT_MS = 10_000;
/** Well inside the allowed window, but more than any clock with NTP is off. */
const NOTICEABLE_SKEW_SECONDS = 30;

export function ok(check: string, detail: string): Check {
  return { check, status: 'ok', detail, next: '' };
}

export function fault(check: string, detail: string, next: string): Check {
  return { check, status: 'fault', detail, next };
}

export function note(check: string, detail: string): Check {
  return { check, status: 'note', detail, next: '' };
}

export function skipped(check: string, detail: string, next = ''): Check {
  return { check, status: 'skipped', detail, next };
}

/** Converts a check of the service to one of ours. */
export function found({ check, status, detail, next }: SelfCheck): Check {
  return { check, status: status === 'unknown' ? 'skipped' : status, detail, next };
}

/** Next steps for errors whose own next step is to run this command. The service's hint is more exact. */
const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  'media-server-unavailable': "start LiveKit, or correct the service's LIVEKIT_URL",
  'media-server-error':
    "compare the service's LIVEKIT_API_KEY and LIVEKIT_API_SECRET with the keys in LiveKit's configuration; the service's log has more",
  'storage-unavailable': "check DATABASE_URL or the disk of DATA_DIR, and the service's log",
};

/** Converts the error of a call to a fault with its own message and next step. */
export function failedCheck(check: string, error: unknown, nowMs: number): Check {
  const { cause, next: hint } = describeError(error, nowMs);
  const own = error instanceof RtcError && error.hint === undefined ? NEXT_OF_CODE[error.code] : undefined;
  const next = own ?? hint;
  if (isLackOfScope(error)) return skipped(check, cause, next);
  return fault(check, cause, next ?? '');
}

/** Returns whether the key lacks the scope for the request, which means no fault of the service. */
export function isLackOfScope(error: unknown): boolean {
  return error instanceof RtcError && error.code === 'insufficient-scope';
}

/** Checks that there are an address, a key and a secret, and names their sources. */
export async function checkSettings(context: Context): Promise<{
  readonly url: string;
  readonly credentials: Credentials | undefined;
  readonly checks: readonly Check[];
}> {
  const settings = await context.settings();
  const url = settings.url.value;
  try {
    const credentials = await readCredentials(settings);
    return { url, credentials, checks: [ok('settings', describeSettings(settings))] };
  } catch (error) {
    return { url, credentials: undefined, checks: [failedCheck('settings', error, context.io.clock())] };
  }
}

/** Checks that the service responds at its address, and compares its clock with ours. */
export async function checkAddress(
  context: Context,
  url: string,
): Promise<{ readonly isService: boolean; readonly checks: readonly Check[] }> {
  const client = await openClient(context, { url, apiKey: '', apiSecret: '' });
  try {
    const response = await client.request('GET', '/v1/health', {
      signed: false,
      signal: context.io.signal,
      timeoutMs: CHECK_TIMEOUT_MS,
    });
    const health = readHealth(response.body);
    if (health === undefined) {
      return {
        isService: false,
        checks: [
          fault('address', `${url} responds, but is not this service`, 'correct the URL: rtc profile show'),
        ],
      };
    }
    return {
      isService: true,
      checks: [
        ok('address', `${url} responds, version ${health.version}`),
        checkClock(context, response.headers.date),
      ],
    };
  } catch (error) {
    if (!(error instanceof RtcError)) throw error;
    const { cause } = describeError(error, context.io.clock());
    const next = error.hint === undefined ? nextOfAddress(error, url) : hintLine(error.hint);
    return { isService: false, checks: [fault('address', cause, next)] };
  } finally {
    await client.close();
  }
}

/** Returns the next step after an error that has none of its own. */
function nextOfAddress({ code }: RtcError, url: string): string {
  if (code === 'route-not-found') return withBasePathStep('correct the URL', url);
  return code === 'unreachable' || code === 'timed-out'
    ? 'start it (rtc serve, or rtc dev), or correct its address: rtc profile show'
    : 'correct the URL, or look at the proxy in between: rtc doctor --debug';
}

/** A proxy that serves the service under a path has to be known to the service, whether it strips the path or not. */
export function withBasePathStep(next: string, url: string): string {
  const path = new URL(url).pathname.replace(/\/+$/, '');
  return path === '' ? next : `${next}; or set the service's BASE_PATH to ${path}, the path of this address`;
}

/** Compares the clocks by the Date header. It has whole seconds, which is enough for a window of five minutes. */
function checkClock(context: Context, date: string | undefined): Check {
  const serverMs = Date.parse(date ?? '');
  if (Number.isNaN(serverMs)) return skipped('clock', 'the response has no Date header');
  const ahead = Math.round((context.io.clock() - serverMs) / 1000);
  const skew = describeSkew(ahead);
  if (Math.abs(ahead) > TIMESTAMP_WINDOW_SECONDS) {
    return fault(
      'clock',
      `${skew}; requests are refused from ${TIMESTAMP_WINDOW_SECONDS} s`,
      'correct it (NTP)',
    );
  }
  if (Math.abs(ahead) > NOTICEABLE_SKEW_SECONDS) {
    return { check: 'clock', status: 'warning', detail: skew, next: 'correct it (NTP)' };
  }
  return ok('clock', Math.abs(ahead) <= 1 ? "agrees with the server's" : skew);
}

function describeSettings(settings: Settings): string {
  const { url, apiKey, apiSecret } = settings;
  const key = apiKey === undefined ? '' : `key ${maskKey(apiKey.value)} (${apiKey.source})`;
  return `${url.value} (${url.source}), ${key}, secret (${apiSecret?.source ?? ''})`;
}

function readHealth(body: string): { readonly version: string } | undefined {
  // It may be the page of another program.
  const { status, version } = readMembers(parseJson(body));
  return status === 'ok' && typeof version === 'string' ? { version } : undefined;
}

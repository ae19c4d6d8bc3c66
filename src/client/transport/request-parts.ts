import type { Readiness } from '../../contract/health.ts';
import type { CallOptions, SendOptions } from '../client-options.ts';
import type { RtcError } from '../rtc-error.ts';
import { toPath } from './service-url.ts';

export function roomPath(room: string, ...rest: readonly string[]): string {
  return `/v1/rooms${toPath(room, ...rest)}`;
}

export function webhookPath(id: string, ...rest: readonly string[]): string {
  return `/v1/webhooks${toPath(id, ...rest)}`;
}

export function keyPath(id: string): string {
  return `/v1/keys${toPath(id)}`;
}

export function recordingPath(id: string, ...rest: readonly string[]): string {
  return `/v1/recordings${toPath(id, ...rest)}`;
}

export function sessionPath(id: string, ...rest: readonly string[]): string {
  return `/v1/sessions${toPath(id, ...rest)}`;
}

export function transcriptionPath(id: string): string {
  return `/v1/transcriptions${toPath(id)}`;
}

/** Returns the time limit of a long poll: its wait, and 15 s for the call itself; undefined for the client's own limit. */
export function timeoutOfWait(waitSeconds: number | undefined): number | undefined {
  return waitSeconds === undefined || waitSeconds === 0 ? undefined : waitSeconds * 1000 + 15_000;
}

export function withBody(body: object, options: CallOptions | undefined): SendOptions {
  return { ...options, body: JSON.stringify(body) };
}

/** Returns the query string with the values that are not undefined, each percent-encoded; empty without values. */
export function toQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  const encoded = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return encoded.length === 0 ? '' : `?${encoded.join('&')}`;
}

export function splitList(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
}

/** Returns the body of a service that is not ready. Throws the error again when the body has another shape. */
export function readReadiness(error: RtcError): Readiness {
  try {
    const value: unknown = JSON.parse(error.body ?? '');
    if (isReadiness(value)) return value;
  } catch {
    // The page of a proxy: the original error describes it.
  }
  throw error;
}

function isReadiness(value: unknown): value is Readiness {
  return typeof value === 'object' && value !== null && 'ready' in value && 'checks' in value;
}

/**
 * Whether a header can contain the text (RFC 9110, section 5.5). Text of a file often ends with a line end, which no header
 * can contain.
 */
export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

import type { Readiness } from '../contract/health.ts';
import type { CallOptions, SendOptions } from './client-options.ts';
import type { RtcError } from './rtc-error.ts';
import { pathOf } from './service-url.ts';

export function roomPath(room: string, ...rest: readonly string[]): string {
  return `/v1/rooms${pathOf(room, ...rest)}`;
}

export function webhookPath(id: string, ...rest: readonly string[]): string {
  return `/v1/webhooks${pathOf(id, ...rest)}`;
}

export function recordingPath(id: string, ...rest: readonly string[]): string {
  return `/v1/recordings${pathOf(id, ...rest)}`;
}

export function transcriptionPath(id: string): string {
  return `/v1/transcriptions${pathOf(id)}`;
}

/** A long poll is given its wait and what any call may take besides. */
export function patienceFor(waitSeconds: number | undefined): number | undefined {
  return waitSeconds === undefined || waitSeconds === 0 ? undefined : waitSeconds * 1000 + 15_000;
}

export function withBody(body: object, options: CallOptions | undefined): SendOptions {
  return { ...options, body: JSON.stringify(body) };
}

/** Query string with the values that are there, each percent-encoded; empty without any. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  const encoded = pairs.map(([name, value]) => `${name}=${encodeValue(String(value))}`);
  return encoded.length === 0 ? '' : `?${encoded.join('&')}`;
}

/** fetch escapes the apostrophe of a query, and what is signed has to be what is sent. */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

export function splitList(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
}

/** The answer of a service that is not ready. Throws the error again when it is no such answer. */
export function readinessOf(error: RtcError): Readiness {
  try {
    const value: unknown = JSON.parse(error.body ?? '');
    if (typeof value === 'object' && value !== null && 'checks' in value) return value as Readiness;
  } catch {
    // A proxy's page: the original error says so.
  }
  throw error;
}

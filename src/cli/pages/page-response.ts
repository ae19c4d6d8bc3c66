import { reasonPhrase } from '../../contract/errors.ts';

export type PageResponse = {
  readonly status: number;
  /** A stream is closed when the browser disconnects. */
  readonly body?: string | Buffer | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A problem (RFC 9457), like the service's own errors. */
export function problem(status: number, detail: string, hint?: { readonly text: string }): PageResponse {
  const members = { type: 'about:blank', title: reasonPhrase(status), status, detail };
  return {
    ...jsonResponse(status, hint === undefined ? members : { ...members, hint }),
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  };
}

export function jsonResponse(status: number, value: unknown): PageResponse {
  return {
    status,
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  };
}

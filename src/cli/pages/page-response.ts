import { reasonPhrase } from '../../contract/errors.ts';

export type PageResponse = {
  readonly status: number;
  /** What is streamed ends with the transfer: a browser that goes away ends the iteration. */
  readonly body?: string | Buffer | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** RFC 9457, as the service's own errors. */
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

export type PageResponse = {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** RFC 9457, as the service's own errors. */
export function problem(status: number, detail: string): PageResponse {
  return {
    status,
    body: JSON.stringify({ type: 'about:blank', status, detail }),
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  };
}

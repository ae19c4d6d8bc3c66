import { createHash, createHmac } from 'node:crypto';

/** What a request carries over the wire. */
export type WireRequest = {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly path: string;
  readonly body?: Uint8Array | string | undefined;
};

export type Signing = {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly timestamp: number | string;
};

/**
 * The headers of a signed request, written from the specification and from it alone: an independent witness of
 * what the service and its client do.
 */
export function signatureHeaders(request: WireRequest, signing: Signing): Readonly<Record<string, string>> {
  const timestamp = `${signing.timestamp}`;
  const bodyHash = createHash('sha256')
    .update(request.body ?? '')
    .digest('hex');
  const canonical = [request.method, request.path, timestamp, bodyHash].join('\n');
  return {
    'X-Api-Key': signing.apiKey,
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': createHmac('sha256', signing.apiSecret).update(canonical).digest('hex'),
  };
}

/** The bytes of a signed GET, for a connection of the test's own. */
export function signedGet({ apiKey, apiSecret }: Omit<Signing, 'timestamp'>, path: string): string {
  const signing = { apiKey, apiSecret, timestamp: Math.floor(Date.now() / 1000) };
  const headers = Object.entries({
    Host: 'localhost',
    ...signatureHeaders({ method: 'GET', path }, signing),
  });
  return `GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

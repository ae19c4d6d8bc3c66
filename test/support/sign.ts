import { createHash, createHmac } from 'node:crypto';

/** The parts of a request that are sent. */
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
 * Returns the headers of a signed request. This is written only from the specification, independently of the service and
 * its client.
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

/** Returns the bytes of a signed GET, for a raw connection. */
export function signedGet({ apiKey, apiSecret }: Omit<Signing, 'timestamp'>, path: string): string {
  const signing = { apiKey, apiSecret, timestamp: Math.floor(Date.now() / 1000) };
  const headers = Object.entries({
    Host: 'localhost',
    ...signatureHeaders({ method: 'GET', path }, signing),
  });
  return `GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

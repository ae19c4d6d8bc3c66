import { createHash, createHmac } from 'node:crypto';
import { Pool } from 'undici';

export type SignedRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
};

export type Keys = { readonly apiKey: string; readonly apiSecret: string };

export function signedHeaders({ method, path, body = '' }: SignedRequest, { apiKey, apiSecret }: Keys) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hash = createHash('sha256').update(body).digest('hex');
  const signature = createHmac('sha256', apiSecret)
    .update(`${method}\n${path}\n${timestamp}\n${hash}`)
    .digest('hex');
  return {
    'x-api-key': apiKey,
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
  };
}

/** Resolves to the requests per second, with `concurrency` calls at a time. */
export async function throughput(
  call: () => Promise<void>,
  concurrency: number,
  seconds: number,
): Promise<number> {
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      await call();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return (count * 1000) / (performance.now() - startedAt);
}

/** Resolves to the milliseconds of `count` calls, one after the other. */
export async function latencies(call: () => Promise<void>, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedAt = performance.now();
    await call();
    taken.push(performance.now() - startedAt);
  }
  return taken;
}

/** Returns a function that sends the same signed request again and again over kept connections. */
export function repeatedCall(origin: string, request: SignedRequest, keys: Keys, connections: number) {
  const pool = new Pool(origin, { connections });
  const headers = signedHeaders(request, keys);
  const call = async (): Promise<void> => {
    const response = await pool.request({ ...request, body: request.body ?? null, headers });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`${request.path} answered ${response.statusCode}`);
  };
  return { call, close: () => pool.close() };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

import { Pool } from 'undici';
import { createFleet } from '../../test/server/webhooks/support/instance.ts';
import { createDatabase, startPostgres } from '../../test/support/parts/postgres.ts';
import { type Signing, signatureHeaders } from '../../test/support/sign.ts';
import type { Cleaning } from '../experiment.ts';

export type ServiceResponse = {
  readonly status: number;
  readonly text: string;
  /** The members of the JSON object in the text. Empty if it is not one. */
  readonly json: Readonly<Record<string, unknown>>;
};

type WholeRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type SignedClient = ReturnType<typeof createSignedClient>;

/** `now` is the clock of the caller; the system's by default. */
type CallerKeys = Omit<Signing, 'timestamp'> & { readonly now?: () => number };

/** Sends each request once. Throws if the connection fails. */
export function createSignedClient(url: string, keys: CallerKeys, connections: number) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const send = async (
    method: Method,
    path: string,
    { body, headers }: { readonly body: string | null; readonly headers: Readonly<Record<string, string>> },
  ): Promise<ServiceResponse> => {
    const response = await pool.request({ method, path, body, headers });
    const text = await response.body.text();
    return { status: response.statusCode, text, json: parseObject(text) };
  };
  return {
    call: (method: Method, path: string, body?: object) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const signing = { ...keys, timestamp: Math.floor((keys.now ?? Date.now)() / 1000) };
      const type = text === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { ...signatureHeaders({ method, path, body: text }, signing), ...type };
      return send(method, path, { body: text ?? null, headers });
    },
    /** Posts without a signature, with the request's own headers. */
    post: (path: string, request: WholeRequest) => send('POST', path, request),
    close: () => pool.close(),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Sends GET requests one after the other, and resolves to their milliseconds. `toPath` gets the response of the one before. */
export async function timeCalls(
  client: SignedClient,
  count: number,
  toPath: (before: ServiceResponse | undefined) => string,
): Promise<readonly number[]> {
  const times: number[] = [];
  let before: ServiceResponse | undefined;
  for (let index = 0; index < count; index += 1) {
    const path = toPath(before);
    const startedAt = performance.now();
    before = await client.call('GET', path);
    times.push(performance.now() - startedAt);
    if (before.status !== 200) throw new Error(`${path} answered ${before.status}: ${before.text}`);
  }
  return times;
}

/** Lists everything at a path with a query, page by page. The member of a page with its items has the name of the list. */
export async function* listAll<Item>({ call }: Pick<SignedClient, 'call'>, path: string, list: string) {
  for (let cursor = ''; ; ) {
    const { json } = await call('GET', `${path}${cursor}`);
    const page: readonly Item[] = Array.isArray(json[list]) ? json[list] : [];
    yield* page;
    if (page.length === 0 || typeof json.nextCursor !== 'string') return;
    cursor = `&cursor=${encodeURIComponent(json.nextCursor)}`;
  }
}

/** Returns the room name of every event that the service lists. */
export async function namesOfStoredEvents(client: SignedClient): Promise<readonly string[]> {
  const events = listAll<{ readonly room?: { readonly name?: string } }>(
    client,
    '/v1/events?limit=500',
    'events',
  );
  return await Array.fromAsync(events, ({ room }) => room?.name ?? '');
}

type ServiceOptions = {
  readonly environment: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Any free port by default. */
  readonly port?: number;
};

/** Starts the service in a process of its own, with a client that signs its requests. It ends with the experiment. */
export async function startService(
  { cleanUp }: Cleaning,
  { environment, connections, port }: ServiceOptions,
) {
  const fleet = cleanUp(await createFleet(environment));
  const instance = await fleet.start(port === undefined ? {} : { PORT: `${port}` });
  const client = cleanUp(createSignedClient(instance.url, fleet.keys, connections));
  return { fleet, instance, client };
}

type MediaServerAccess = { readonly url: string; readonly apiKey: string; readonly apiSecret: string };

/** The settings by which the service reaches a media server. */
export function mediaServerSettings({ url, apiKey, apiSecret }: MediaServerAccess) {
  return { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret };
}

/** Starts a PostgreSQL; resolves to the URL of a database on it. `isDurable` lets commits wait for the disk. */
export async function startDatabase(
  { cleanUp }: Cleaning,
  options: Parameters<typeof startPostgres>[0] = {},
): Promise<string> {
  const cluster = cleanUp(await startPostgres(options));
  return (await createDatabase(cluster)).url;
}

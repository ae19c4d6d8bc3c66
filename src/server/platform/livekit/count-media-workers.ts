import type { Log } from '../log.ts';

/*
 * LiveKit's processes find each other by channels of Redis (psrpc). A worker subscribes to the channel on which work is
 * offered, and unsubscribes when it drains: the number of subscribers is the number of workers. The media server itself
 * subscribes to the responses. Without that subscription this is another Redis, or the channels have other names now, and
 * the number is unknown. From the source of psrpc 0.7.2 (pkg/info/channels.go, internal/bus/bus_redis.go).
 */

const RECORDERS = 'EgressInternal|StartEgress|REQ';

const INGRESS = 'IngressInternal|StartIngress|REQ';

const RESPONSES_TO_MEDIA_SERVER = 'EgressInternal|CLI_*|CLAIM';

const QUESTIONS = [
  ['PUBSUB', 'NUMSUB', RECORDERS, INGRESS],
  ['PUBSUB', 'CHANNELS', RESPONSES_TO_MEDIA_SERVER],
] as const;

/** Time limit. Redis runs next to the media server, so a slower one counts as down. */
const TIMEOUT_MS = 2000;

/**
 * `url`: redis[s]://[user:password@]host[:port] of the media server's own Redis, a single server; undefined when it is not
 * configured.
 */
export function createMediaWorkers(url: string | undefined, log: Log): MediaWorkers {
  if (url === undefined) return { count: async () => ({ unknown: NOT_CONFIGURED }) };
  const address = new URL(url);
  // Every scrape of the metrics counts the workers. A new line is logged only for a new reason.
  let logged: string | undefined;
  return {
    count: async () => {
      const count = await ask(address);
      const reason = count.unknown?.detail;
      if (reason !== undefined && reason !== logged) {
        log.warn({ reason }, 'the number of connected media workers is unknown');
      }
      logged = reason;
      return count;
    },
  };
}

const NOT_CONFIGURED: UnknownWorkers = { reason: 'not-told', detail: 'REDIS_URL is not set' };

async function ask(address: URL): Promise<WorkerCount> {
  try {
    return toCount(await askRedis(address, QUESTIONS, TIMEOUT_MS));
  } catch (error) {
    if (error instanceof RedisCommandError) return unknown('refused', `Redis refuses: ${readCode(error)}`);
    return unknown('unreachable', `Redis does not respond: ${describe(error)}`);
  }
}

function toCount([numbers, channels]: readonly unknown[]): WorkerCount {
  if (!Array.isArray(numbers) || !Array.isArray(channels) || channels.length === 0) {
    return unknown('foreign', 'no media server is connected to the Redis of REDIS_URL');
  }
  const [, recorders, , ingress] = numbers;
  return { recorders: Number(recorders), ingress: Number(ingress) };
}

function unknown(reason: UnknownWorkers['reason'], detail: string): WorkerCount {
  return { unknown: { reason, detail } };
}

/** NOAUTH, WRONGPASS, NOPERM. The rest of the line may contain a user's name. */
function readCode({ message }: RedisCommandError): string {
  return message.split(' ', 1)[0] ?? '';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

/** Redis refused a command. The message begins with a code such as NOAUTH. */
class RedisCommandError extends Error {
  override readonly name = 'RedisCommandError';
}

/**
 * Sends the commands on a new connection: they are sent at most once a scrape, so that a permanent connection would gain
 * little. Rejects with a RedisCommandError when Redis rejects one, and with another error when Redis cannot be reached in time.
 */
export async function askRedis(
  url: URL,
  commands: readonly (readonly string[])[],
  timeoutMs: number,
): Promise<readonly unknown[]> {
  // Loaded only when REDIS_URL is set.
  const { createClient, ErrorReply } = await import('@redis/client');
  const socket = { connectTimeout: timeoutMs, reconnectStrategy: false } as const;
  // Sends nothing but the commands, so that a user with few rights is enough.
  const client = createClient({ url: url.href, RESP: 2, disableClientInfo: true, socket });
  // The client reports each error twice: here, and by rejecting.
  client.on('error', () => {});
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.destroy();
  }, timeoutMs);
  try {
    await client.connect();
    return await Promise.all(commands.map((command) => client.sendCommand(command)));
  } catch (error) {
    if (isLate) throw new Error('no response in time');
    throw error instanceof ErrorReply ? new RedisCommandError(error.message) : error;
  } finally {
    clearTimeout(timer);
    if (client.isOpen) client.destroy();
  }
}

/** The media server's workers: recorders (egress) and receivers of streams (ingress). */
export interface MediaWorkers {
  /** Counts the workers. Never rejects, because the number may be unknown. */
  count(): Promise<WorkerCount>;
}

/** Numbers of connected workers, which may be busy; or why they are unknown. */
export type WorkerCount =
  | { readonly recorders: number; readonly ingress: number; readonly unknown?: undefined }
  | { readonly recorders?: undefined; readonly ingress?: undefined; readonly unknown: UnknownWorkers };

export type UnknownWorkers = {
  /** `not-told`: no Redis was configured. */
  readonly reason: 'not-told' | 'unreachable' | 'refused' | 'foreign';
  /** The reason in words, without address and password. */
  readonly detail: string;
};

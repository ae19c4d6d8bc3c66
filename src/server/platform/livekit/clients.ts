import {
  AgentDispatchClient,
  EgressClient,
  IngressClient,
  type Room,
  RoomServiceClient,
  type VideoGrant,
} from 'livekit-server-sdk';
import { callListRooms } from './list-rooms-call.ts';

/** Timeouts of calls, in milliseconds. */
export type Timeouts = {
  readonly callMs: number;
  /** StartRoomComposite: the media server itself looks for a recorder for up to 24 s. */
  readonly startMs: number;
};

export type ClientSettings = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly timeouts: Timeouts;
  /** Unix time in milliseconds. */
  readonly now: () => number;
};

export type LivekitClients = {
  readonly rooms: RoomServiceClient;
  readonly egress: EgressClient;
  /** The same API with the longer timeout that a start needs. */
  readonly egressStart: EgressClient;
  readonly ingress: IngressClient;
  readonly dispatch: AgentDispatchClient;
};

/** The SDK's tokens are valid for ten minutes. Half of that remains for clocks that differ and for slow calls. */
const TOKEN_REUSE_MS = 5 * 60_000;

/**
 * The SDK's clients sign a new token for every call, which is a good part of the cost of a short call. Here, a token that
 * is not for one room is signed once in five minutes.
 */
export function createClients(settings: ClientSettings): LivekitClients {
  const reuse = createTokenReuse(settings.now);
  const url = toHttpUrl(settings.url);
  const credentials = [url, settings.apiKey, settings.apiSecret] as const;
  const options = { requestTimeout: requestTimeoutSeconds(settings.timeouts.callMs) };
  const startOptions = { requestTimeout: requestTimeoutSeconds(settings.timeouts.startMs) };

  class Rooms extends RoomServiceClient {
    override authHeader(grant: VideoGrant) {
      return reuse(grant, () => super.authHeader(grant));
    }
    override async listRooms(names: string[] = []): Promise<Room[]> {
      // In LiveKit's cloud, the SDK tries another region when one fails.
      if (isCloud(url)) return await super.listRooms(names);
      const headers = await this.authHeader({ roomList: true });
      return await callListRooms({ url, headers, names, timeoutMs: settings.timeouts.callMs });
    }
  }
  class Egress extends EgressClient {
    override authHeader(grant: VideoGrant) {
      return reuse(grant, () => super.authHeader(grant));
    }
  }
  class Ingress extends IngressClient {
    override authHeader(grant: VideoGrant) {
      return reuse(grant, () => super.authHeader(grant));
    }
  }
  return {
    rooms: new Rooms(...credentials, options),
    egress: new Egress(...credentials, options),
    egressStart: new Egress(...credentials, startOptions),
    ingress: new Ingress(...credentials, options),
    // Each of its tokens is for one room.
    dispatch: new AgentDispatchClient(...credentials, options),
  };
}

/** The API is HTTP on the address that clients use for WebSockets. */
export function toHttpUrl(url: string): string {
  return url.replace(/^ws/i, 'http');
}

/** The SDK's own criterion. */
function isCloud(url: string): boolean {
  return new URL(url).hostname.endsWith('.livekit.cloud');
}

type AuthHeader = Promise<Record<string, string>>;

function createTokenReuse(now: () => number) {
  const kept = new Map<string, { readonly header: AuthHeader; readonly signedAt: number }>();
  return (grant: VideoGrant, sign: () => AuthHeader): AuthHeader => {
    // Keeping one token per room would take memory without bound.
    if (grant.room !== undefined) return sign();
    const key = Object.keys(grant).join();
    const found = kept.get(key);
    const at = now();
    // If the clock was set back since, the token is not valid yet, and the media server refuses it.
    const isFresh = found !== undefined && at >= found.signedAt && at < found.signedAt + TOKEN_REUSE_MS;
    if (isFresh) return found.header;
    const header = sign();
    kept.set(key, { header, signedAt: at });
    return header;
  };
}

/**
 * The SDK multiplies the seconds by 1000 for AbortSignal.timeout, which accepts only whole numbers: 1.1 * 1000 is
 * 1100.0000000000002 and throws. This returns the next longer duration whose product is whole.
 */
function requestTimeoutSeconds(durationMs: number): number {
  let wholeMs = Math.ceil(durationMs);
  while (!Number.isInteger((wholeMs / 1000) * 1000)) wholeMs += 1;
  return wholeMs / 1000;
}

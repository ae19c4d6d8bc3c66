import {
  EgressClient,
  IngressClient,
  type Room,
  RoomServiceClient,
  type VideoGrant,
} from 'livekit-server-sdk';
import { callListRooms } from './list-rooms-call.ts';

/** How long a call may take; milliseconds. */
export type Patience = {
  readonly callMs: number;
  /** StartRoomComposite: the media server itself looks for a recorder for up to 24 s. */
  readonly startMs: number;
};

export type ClientSettings = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly patience: Patience;
  /** Unix time in milliseconds. */
  readonly now: () => number;
};

export type LivekitClients = {
  readonly rooms: RoomServiceClient;
  readonly egress: EgressClient;
  /** The same API with the longer patience that a start needs. */
  readonly egressStart: EgressClient;
  readonly ingress: IngressClient;
};

/** The SDK's tokens live ten minutes; half of that is left for clocks that differ and for slow calls. */
const TOKEN_REUSE_MS = 5 * 60_000;

/**
 * The SDK's clients, which sign a new token for every call: that is a good part of what a short call costs. Here a
 * token that is not bound to a room is signed once in five minutes.
 */
export function createClients(settings: ClientSettings): LivekitClients {
  const reuse = createTokenReuse(settings.now);
  const url = toHttpUrl(settings.url);
  const credentials = [url, settings.apiKey, settings.apiSecret] as const;
  const options = { requestTimeout: requestTimeoutSeconds(settings.patience.callMs) };
  const startOptions = { requestTimeout: requestTimeoutSeconds(settings.patience.startMs) };

  class Rooms extends RoomServiceClient {
    override authHeader(grant: VideoGrant) {
      return reuse(grant, () => super.authHeader(grant));
    }
    override async listRooms(names: string[] = []): Promise<Room[]> {
      // In LiveKit's cloud the SDK goes on to another region when one fails.
      if (isCloud(url)) return await super.listRooms(names);
      const headers = await this.authHeader({ roomList: true });
      return await callListRooms({ url, headers, names, timeoutMs: settings.patience.callMs });
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
  };
}

/** The API is plain HTTP on the address that clients reach by WebSocket. */
export function toHttpUrl(url: string): string {
  return url.replace(/^ws/i, 'http');
}

/** As the SDK tells it. */
function isCloud(url: string): boolean {
  return new URL(url).hostname.endsWith('.livekit.cloud');
}

type AuthHeader = Promise<Record<string, string>>;

function createTokenReuse(now: () => number) {
  const kept = new Map<string, { readonly header: AuthHeader; readonly signedAt: number }>();
  return (grant: VideoGrant, sign: () => AuthHeader): AuthHeader => {
    // One token per room would grow without bound.
    if (grant.room !== undefined) return sign();
    const key = Object.keys(grant).join();
    const found = kept.get(key);
    const at = now();
    // Of a clock that was set back since, it is one of the future, which the media server refuses.
    const isFresh = found !== undefined && at >= found.signedAt && at < found.signedAt + TOKEN_REUSE_MS;
    if (isFresh) return found.header;
    const header = sign();
    kept.set(key, { header, signedAt: at });
    return header;
  };
}

/**
 * The SDK multiplies its seconds by 1000 and hands them to AbortSignal.timeout, which takes whole numbers only:
 * 1.1 * 1000 is 1100.0000000000002 and throws. So the next duration that survives is taken.
 */
function requestTimeoutSeconds(durationMs: number): number {
  let wholeMs = Math.ceil(durationMs);
  while (!Number.isInteger((wholeMs / 1000) * 1000)) wholeMs += 1;
  return wholeMs / 1000;
}

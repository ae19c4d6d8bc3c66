import type { AgentDispatch } from '@livekit/protocol';
import {
  AgentDispatchClient,
  EgressClient,
  IngressClient,
  type ParticipantInfo,
  RoomServiceClient,
  type VideoGrant,
} from 'livekit-server-sdk';
import type { Room } from '../../../contract/rooms.ts';
import { toRoom } from './records.ts';
import { createJwtSigner } from './token-signer.ts';
import { createTwirpClient } from './twirp-client.ts';

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
  /** Its `listRooms` is slower than the one below. */
  readonly rooms: RoomServiceClient;
  /** Lists the rooms with these names; all rooms for an empty list of names. The caller must not change them. */
  readonly listRooms: (names: readonly string[]) => Promise<readonly Room[]>;
  readonly egress: EgressClient;
  /** The same API with the longer timeout of a start. */
  readonly egressStart: EgressClient;
  readonly ingress: IngressClient;
  readonly dispatch: AgentDispatchClient;
  readonly close: () => Promise<void>;
};

const TOKEN_LIFETIME_SECONDS = 600;
/** Half of the lifetime remains for clocks that differ and for slow calls. */
const TOKEN_REUSE_MS = (TOKEN_LIFETIME_SECONDS * 1000) / 2;

/**
 * The SDK's clients sign a new token for every call, which is a large part of the cost of a short call. Here a token that is
 * not for one room is signed once in five minutes.
 */
export function createClients(settings: ClientSettings): LivekitClients {
  const authorize = createAuthorization(settings);
  const url = toHttpUrl(settings.url);
  const credentials = [url, settings.apiKey, settings.apiSecret] as const;
  const options = { requestTimeout: requestTimeoutSeconds(settings.timeouts.callMs) };
  const startOptions = { requestTimeout: requestTimeoutSeconds(settings.timeouts.startMs) };
  const twirp = createTwirpClient({ url, timeoutMs: settings.timeouts.callMs });
  // In LiveKit's cloud, the SDK tries another region when one fails.
  const usesSdkOnly = isCloud(url);

  class Rooms extends RoomServiceClient {
    override authHeader(grant: VideoGrant) {
      return authorize(grant);
    }
    override async listParticipants(room: string): Promise<ParticipantInfo[]> {
      if (usesSdkOnly) return await super.listParticipants(room);
      return await twirp.listParticipants(await authorize({ roomAdmin: true, room }), room);
    }
  }
  class Egress extends EgressClient {
    override authHeader(grant: VideoGrant) {
      return authorize(grant);
    }
  }
  class Ingress extends IngressClient {
    override authHeader(grant: VideoGrant) {
      return authorize(grant);
    }
  }
  class Dispatch extends AgentDispatchClient {
    override authHeader(grant: VideoGrant) {
      return authorize(grant);
    }
    override async listDispatch(room: string): Promise<AgentDispatch[]> {
      if (usesSdkOnly) return await super.listDispatch(room);
      return await twirp.listDispatch(await authorize({ roomAdmin: true, room }), room);
    }
  }
  const rooms = new Rooms(...credentials, options);
  return {
    rooms,
    listRooms: usesSdkOnly
      ? async (names) => (await rooms.listRooms([...names])).map(toRoom)
      : async (names) => twirp.listRooms(await authorize({ roomList: true }), names),
    egress: new Egress(...credentials, options),
    egressStart: new Egress(...credentials, startOptions),
    ingress: new Ingress(...credentials, options),
    dispatch: new Dispatch(...credentials, options),
    close: twirp.close,
  };
}

/** The API is HTTP on the address that clients use for WebSockets. */
export function toHttpUrl(url: string): string {
  return url.replace(/^ws/i, 'http');
}

/** Whether the URL is LiveKit's cloud, by the SDK's own criterion. */
function isCloud(url: string): boolean {
  return new URL(url).hostname.endsWith('.livekit.cloud');
}

type AuthHeader = Record<string, string>;

function createAuthorization({ apiKey, apiSecret, now }: ClientSettings) {
  const signJwt = createJwtSigner(apiSecret);
  const kept = new Map<string, { readonly header: AuthHeader; readonly signedAt: number }>();
  const sign = (video: VideoGrant, at: number): AuthHeader => {
    const nbf = Math.floor(at / 1000);
    const token = signJwt({ iss: apiKey, nbf, exp: nbf + TOKEN_LIFETIME_SECONDS, video });
    return { Authorization: `Bearer ${token}` };
  };
  return async (grant: VideoGrant): Promise<AuthHeader> => {
    const at = now();
    // A cached token for every room would take unlimited memory.
    if (grant.room !== undefined) return sign(grant, at);
    const key = Object.keys(grant).join();
    const found = kept.get(key);
    // If the clock was set back since, the token is not valid yet, and the media server rejects it.
    const isFresh = found !== undefined && at >= found.signedAt && at < found.signedAt + TOKEN_REUSE_MS;
    if (isFresh) return found.header;
    const header = sign(grant, at);
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

import { randomBytes } from 'node:crypto';
import { AccessToken } from 'livekit-server-sdk';
import { createLivekitMediaServer } from '../../../../src/server/platform/livekit/livekit-media-server.ts';
import { startLivekit } from '../../../support/parts/livekit.ts';
import { type JoinedParticipant, join as joinRoom } from '../../../support/parts/participant.ts';
import { startRedis } from '../../../support/parts/redis.ts';
import type { JoinOptions, MediaServerFixture } from './media-server-contract.ts';
import { startWebhookInbox } from './webhook-inbox.ts';

/** Starts the real livekit-server with real participants, without a recorder and an ingress service. */
export async function startLivekitFixture(options: { readonly redis: boolean }): Promise<MediaServerFixture> {
  const keys = { apiKey: 'contract', apiSecret: randomBytes(24).toString('hex') };
  const inbox = await startWebhookInbox(keys);
  const redis = options.redis ? await startRedis() : undefined;
  const livekit = await startLivekit({
    ...keys,
    ...(redis === undefined ? {} : { redis }),
    webhookUrl: inbox.url,
    ingressRtmpUrl: 'rtmp://127.0.0.1:1935/live',
  });
  const people = new Set<JoinedParticipant>();
  const withKeys = (changed: Partial<typeof keys>) =>
    createLivekitMediaServer({ url: livekit.url, ...keys, ...changed });

  const join = async (room: string, identity: string, joining: JoinOptions = {}) => {
    const person = await joinRoom(livekit.url, await joinToken({ keys, room, identity, ...joining }));
    people.add(person);
    return {
      publish: async () => (await person.publishTone()).sid,
      leave: async () => {
        people.delete(person);
        await person.leave();
      },
    };
  };

  return {
    server: withKeys({}),
    withKeys,
    join,
    inbox,
    close: async () => {
      await Promise.all([...people].map((person) => person.leave()));
      await livekit.close();
      await redis?.close();
      await inbox.close();
    },
  };
}

type TokenWish = JoinOptions & {
  readonly keys: { readonly apiKey: string; readonly apiSecret: string };
  readonly room: string;
  readonly identity: string;
};

function joinToken({ keys, room, identity, hidden = false, attributes = {} }: TokenWish): Promise<string> {
  const token = new AccessToken(keys.apiKey, keys.apiSecret, { identity, name: identity, attributes });
  token.addGrant({ roomJoin: true, room, hidden });
  return token.toJwt();
}

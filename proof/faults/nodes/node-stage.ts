import { randomBytes } from 'node:crypto';
import { createClient } from '@redis/client';
import { type Receiver, startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import type { Livekit } from '../../../test/support/parts/livekit.ts';
import { startRedis } from '../../../test/support/parts/redis.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { MEDIA_KEY } from '../../support/callers.ts';
import { mediaServerSettings, type SignedClient, startService } from '../../support/signed-client.ts';
import { startRestartable } from '../media/media-stage.ts';
import { startLivekitBalancer } from './livekit-balancer.ts';

/** One of two LiveKit nodes. It gets a new id at each start. */
export type Node = {
  readonly livekit: () => Livekit;
  readonly id: () => string;
  readonly startAgain: () => Promise<void>;
};

/** Two LiveKit nodes that share one Redis behind a balancer, and one instance of the service. */
export type NodeStage = {
  readonly client: SignedClient;
  readonly mediaSecret: string;
  readonly receiver: Receiver;
  readonly nodes: readonly [Node, Node];
  /** Resolves to the id of the node that hosts the room, as LiveKit stores it in Redis. */
  readonly findHolder: (room: string) => Promise<string | undefined>;
};

export async function startNodeStage(
  { cleanUp }: Pick<ExperimentContext, 'cleanUp'>,
  connections: number,
): Promise<NodeStage> {
  const mediaSecret = randomBytes(24).toString('hex');
  const redis = await startRedis();
  cleanUp(redis.close);
  const reader = createClient({ url: redis.url });
  await reader.connect();
  cleanUp(() => reader.destroy());
  const servicePort = await freePort();
  const webhookUrl = `http://127.0.0.1:${servicePort}/livekit/webhook`;
  const known = new Set<string>();
  const newId = async (): Promise<string> => {
    const ids = await reader.hKeys('nodes');
    const id = ids.find((one) => !known.has(one)) ?? '';
    known.add(id);
    return id;
  };
  const startNode = async (): Promise<Node> => {
    const options = { redis, webhookUrl, apiKey: MEDIA_KEY, apiSecret: mediaSecret };
    const { livekit, startLivekitAgain } = await startRestartable({ cleanUp }, options);
    let id = await newId();
    return {
      livekit,
      id: () => id,
      startAgain: async () => {
        await startLivekitAgain();
        id = await newId();
      },
    };
  };
  const nodes = [await startNode(), await startNode()] as const;
  const ports = nodes.map((node) => Number(new URL(node.livekit().httpUrl).port));
  const balancer = await startLivekitBalancer(ports);
  cleanUp(balancer.close);
  const url = `ws://127.0.0.1:${balancer.port}`;
  const environment = mediaServerSettings({ url, apiKey: MEDIA_KEY, apiSecret: mediaSecret });
  const { client } = await startService({ cleanUp }, { environment, connections, port: servicePort });
  const receiver = await startReceiver();
  cleanUp(receiver.close);
  await client.call('POST', '/v1/webhooks', { url: receiver.url });
  return {
    ...{ client, receiver, mediaSecret, nodes },
    findHolder: async (room) => (await reader.hGet('room_node_map', room)) ?? undefined,
  };
}

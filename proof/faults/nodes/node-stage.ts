import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import type { Livekit } from '../../../test/support/parts/livekit.ts';
import { startRedis } from '../../../test/support/parts/redis.ts';
import { freePort, runPart, untilReady, withFreshPorts } from '../../../test/support/parts/run-part.ts';
import { type Cleaning, makeFolder } from '../../experiment.ts';
import { MEDIA_KEY } from '../../support/callers.ts';
import { mediaServerSettings, startService } from '../../support/signed-client.ts';
import { startRestartable } from '../media/media-stage.ts';

/** One of two LiveKit nodes. It gets a new id at each start. */
export type Node = {
  readonly livekit: () => Livekit;
  readonly id: () => string;
  readonly startAgain: () => Promise<void>;
};

/** Two LiveKit nodes that share one Redis behind a balancer, and one instance of the service. */
export type NodeStage = Awaited<ReturnType<typeof startNodeStage>>;

export async function startNodeStage({ cleanUp }: Cleaning, connections: number) {
  const mediaSecret = randomBytes(24).toString('hex');
  const redis = cleanUp(await startRedis());
  const reader = createClient({ url: redis.url });
  await reader.connect();
  cleanUp(() => reader.destroy());
  const servicePort = await freePort();
  const webhookUrl = `http://127.0.0.1:${servicePort}/livekit/webhook`;
  const known = new Set<string>();
  const newId = async (): Promise<string> => {
    const ids = await reader.hKeys('nodes');
    const id = ids.find((one) => !known.has(one));
    if (id === undefined) throw new Error('the new node is not in Redis');
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
  const balancer = cleanUp(await startLivekitBalancer(await makeFolder({ cleanUp }), ports));
  const url = `ws://127.0.0.1:${balancer.port}`;
  const environment = mediaServerSettings({ url, apiKey: MEDIA_KEY, apiSecret: mediaSecret });
  const { client } = await startService({ cleanUp }, { environment, connections, port: servicePort });
  const receiver = cleanUp(await startReceiver());
  await client.call('POST', '/v1/webhooks', { url: receiver.url });
  return {
    ...{ client, receiver, mediaSecret, nodes },
    /** Resolves to the id of the node that hosts the room, as LiveKit stores it in Redis. */
    findHolder: async (room: string) => (await reader.hGet('room_node_map', room)) ?? undefined,
  };
}

/** HAProxy with health checks in front of several LiveKit nodes, as LiveKit's documentation recommends. */
function startLivekitBalancer(folder: string, nodePorts: readonly number[]) {
  return withFreshPorts(async () => {
    const port = await freePort();
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configuration(port, nodePorts));
    const part = runPart({ name: 'haproxy', program: 'haproxy', args: ['-f', file] });
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/`)).ok;
    await untilReady(part, 'haproxy', { isReady });
    return { port, close: part.close };
  });
}

/** A node that fails two checks in a row receives no further connections, and its open ones are closed. */
function configuration(port: number, nodePorts: readonly number[]): string {
  const servers = nodePorts.map(
    (node, index) =>
      `  server node${index} 127.0.0.1:${node} check inter 1s fall 2 rise 2 on-marked-down shutdown-sessions`,
  );
  return [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout check 1s',
    '  timeout client 60s',
    '  timeout server 60s',
    '  timeout tunnel 1h',
    'listen livekit',
    `  bind 127.0.0.1:${port}`,
    '  balance roundrobin',
    '  option httpchk GET /',
    ...servers,
    '',
  ].join('\n');
}

import { IngressClient } from 'livekit-server-sdk';
import { createFleet } from '../../test/server/webhooks/support/instance.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../test/server/webhooks/support/receiver.ts';
import { type Ingress, rtmpUrlOf, startIngress } from '../../test/support/parts/ingress.ts';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { startRedis } from '../../test/support/parts/redis.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import type { ProofContext } from '../part.ts';
import { createSignedClient, type SignedClient } from '../rolling/signed-client.ts';

/** A real LiveKit with its Redis and its ingress service, one instance of the service, and a receiver of its webhooks. */
export type IngressStage = {
  readonly client: SignedClient;
  /** LiveKit's own state of the ingress, such as 1 for buffering and 2 for publishing. */
  readonly stateOf: (ingressId: string) => Promise<number | undefined>;
  readonly killWorker: () => Promise<void>;
  readonly startWorkerAgain: () => Promise<void>;
  /** The events of the ingress that the webhook got. */
  readonly eventsOf: (ingressId: string) => readonly Received[];
  readonly isSigned: (received: Received) => boolean;
};

const CONNECTIONS = 8;

export async function startIngressStage({ cleanUp }: Pick<ProofContext, 'cleanUp'>): Promise<IngressStage> {
  const [rtmpPort, port] = [await freePort(), await freePort()];
  const redis = await startRedis();
  cleanUp(redis.close);
  const webhookUrl = `http://127.0.0.1:${port}/livekit/webhook`;
  const livekit = await startLivekit({ redis, ingressRtmpUrl: rtmpUrlOf(rtmpPort), webhookUrl });
  cleanUp(livekit.close);
  let worker: Ingress = await startIngress({ redis, livekit, rtmpPort });
  cleanUp(() => worker.close());
  const fleet = await createFleet({
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
  });
  cleanUp(fleet.close);
  const instance = await fleet.start({ PORT: `${port}` });
  const client = createSignedClient(instance.url, fleet.keys, CONNECTIONS);
  cleanUp(client.close);
  const receiver = await startReceiver();
  cleanUp(receiver.close);
  const events = ['ingress_started', 'ingress_stopped'];
  const { json } = await client.call('POST', '/v1/webhooks', { url: receiver.url, events });
  const ingresses = new IngressClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  return {
    client,
    stateOf: async (wanted) =>
      (await ingresses.listIngress({})).find(({ ingressId }) => ingressId === wanted)?.state?.status,
    killWorker: () => worker.kill(),
    startWorkerAgain: async () => {
      worker = await startIngress({ redis, livekit, rtmpPort });
    },
    eventsOf: (ingressId) => receiver.received.filter(({ body }) => body.ingress?.ingressId === ingressId),
    isSigned: (received) =>
      received.headers['x-service-webhook-signature'] ===
      expectedSignatures(received, String(json.secret)).specified,
  };
}

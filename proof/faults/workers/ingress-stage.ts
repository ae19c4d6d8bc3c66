import { IngressClient } from 'livekit-server-sdk';
import type { INGRESS_TYPES } from '../../../src/contract/choices.ts';
import { keepPushing, type Push } from '../../../test/ingress-rtmp/keep-pushing.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../../test/server/webhooks/support/receiver.ts';
import { startBrowser } from '../../../test/support/parts/browser.ts';
import { type Ingress, rtmpUrlOf, startIngress, whipUrlOf } from '../../../test/support/parts/ingress.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { startRedis } from '../../../test/support/parts/redis.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { ProofContext } from '../../part.ts';
import { mediaServerSettings, type SignedClient, startService } from '../../support/signed-client.ts';
import { keepPushingByWhip, type WhipEndpoint } from './push-by-whip.ts';

/** A real LiveKit with its Redis and its ingress service, a browser, one instance of the service, and a receiver of its webhooks. */
export type IngressStage = {
  readonly client: SignedClient;
  /** LiveKit's own state of the ingress, such as 1 for buffering and 2 for publishing. */
  readonly stateOf: (ingressId: string) => Promise<number | undefined>;
  readonly killWorker: () => Promise<void>;
  readonly startWorkerAgain: () => Promise<void>;
  /** Pushes to an ingress again and again until the push is closed. */
  readonly startPush: (endpoint: WhipEndpoint, kind: PushKind) => Promise<Push>;
  /** The events of the ingress that the webhook got. */
  readonly eventsOf: (ingressId: string) => readonly Received[];
  readonly isSigned: (received: Received) => boolean;
};

export type PushKind = (typeof INGRESS_TYPES)[number];

const CONNECTIONS = 8;

export async function startIngressStage({ cleanUp }: Pick<ProofContext, 'cleanUp'>): Promise<IngressStage> {
  const [rtmpPort, whipPort, port] = [await freePort(), await freePort(), await freePort()];
  const redis = await startRedis();
  cleanUp(redis.close);
  const webhookUrl = `http://127.0.0.1:${port}/livekit/webhook`;
  const livekit = await startLivekit({
    redis,
    webhookUrl,
    ingressRtmpUrl: rtmpUrlOf(rtmpPort),
    ingressWhipUrl: whipUrlOf(whipPort),
  });
  cleanUp(livekit.close);
  const addresses = { redis, livekit, rtmpPort, whipPort };
  let worker: Ingress = await startIngress(addresses);
  cleanUp(() => worker.close());
  const browser = await startBrowser();
  cleanUp(browser.close);
  const environment = mediaServerSettings(livekit);
  const { client } = await startService({ cleanUp }, { environment, port, connections: CONNECTIONS });
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
      worker = await startIngress(addresses);
    },
    startPush: async ({ url, streamKey }, kind) =>
      kind === 'rtmp'
        ? keepPushing(`${url}/${streamKey}`)
        : await keepPushingByWhip(browser, { url, streamKey }),
    eventsOf: (ingressId) => receiver.received.filter(({ body }) => body.ingress?.ingressId === ingressId),
    isSigned: (received) =>
      received.headers['x-service-webhook-signature'] ===
      expectedSignatures(received, String(json.secret)).specified,
  };
}

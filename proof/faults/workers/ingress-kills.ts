import { join } from 'node:path';
import { IngressClient } from 'livekit-server-sdk';
import { INGRESS_TYPES } from '../../../src/contract/choices.ts';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { keepPushing, type Push } from '../../../test/ingress-rtmp/keep-pushing.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../../test/server/webhooks/support/receiver.ts';
import { startBrowser, type TestBrowser } from '../../../test/support/parts/browser.ts';
import { type Ingress, startIngress, toRtmpUrl, toWhipUrl } from '../../../test/support/parts/ingress.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { startRedis } from '../../../test/support/parts/redis.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { Cleaning, Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, none, observed } from '../../figures.ts';
import { type KillState, killInEveryState } from '../../support/faults.ts';
import { findWithin } from '../../support/poll.ts';
import { mediaServerSettings, startService } from '../../support/signed-client.ts';

/** LiveKit removes a participant whose process died after some 20 s; the push begins again as soon as a worker takes it. */
const BOUND_SECONDS = 60;
const STATES_OF_SHORT = ['waiting', 'publishing'];

const INGRESS_STATES: readonly IngressState[] = [
  { name: 'while it waits for a push', slug: 'waiting' },
  { name: 'while a push begins', slug: 'beginning' },
  { name: 'while it publishes a push', slug: 'publishing' },
  { name: 'as a push ends', slug: 'ending' },
];

/** LiveKit's ENDPOINT_BUFFERING and ENDPOINT_PUBLISHING. A push by WHIP is buffered for a moment only. */
const BEGUN: readonly (number | undefined)[] = [1, 2];
const TRACKS = 2;
const PACE = { everyMs: 50, withinMs: 120_000 };
const CONNECTIONS = 8;
const SCRIPT = join(import.meta.dirname, 'push-in-page.js');
export const ingressKills: Experiment = { name: 'ingress-kills', run: killIngressWorkers };

async function killIngressWorkers(context: ExperimentContext): Promise<Findings> {
  const stage = await startIngressStage(context);
  const states = INGRESS_STATES.flatMap(({ name, slug }) =>
    INGRESS_TYPES.map((kind) => ({ name: `${kind.toUpperCase()}, ${name}`, slug, kind })),
  );
  const figures = await killInEveryState(context, {
    states,
    ofShort: STATES_OF_SHORT,
    kill: async ({ slug, kind }) => {
      const outcome = await killIngressWorker(stage, slug, kind);
      const line = `published after ${outcome.publishedMs} ms, left after ${outcome.leftMs} ms`;
      return { figures: toFigures(stage, outcome), lines: [line, ...outcome.failures.slice(0, 5)] };
    },
  });
  return { figures, versions: { LiveKit: livekitServerVersion } };
}

function toFigures(stage: IngressStage, outcome: IngressOutcome): Figures {
  const { ingressId, isPlaced, publishedMs, leftMs, failures, isDeleted } = outcome;
  const events = stage.listEvents(ingressId);
  const count = (event: string): number => events.filter(({ body }) => body.event === event).length;
  const ids = new Set(events.map(({ body }) => body.id));
  const within = (name: string, ms: number): Figure =>
    atMost({ name, measured: Math.round(ms / 1000), bound: BOUND_SECONDS, unit: ' s' });
  return [
    exactly('kills at that place', Number(isPlaced), 1),
    ...(publishedMs === undefined ? [] : [within('in the room again after', publishedMs)]),
    within('nobody in the room after the end of the push', leftMs),
    exactly('requests to the service that failed', failures.length, 0),
    observed('ingress_started', count('ingress_started')),
    observed('ingress_stopped', count('ingress_stopped')),
    exactly('events that arrived twice', events.length - ids.size, 0),
    none('events with a wrong signature', events, (one) => !stage.isSigned(one)),
    exactly('ingresses that were deleted', Number(isDeleted), 1),
  ];
}

/** The activity of an ingress worker at the time of its death. */
type IngressState = KillState & { readonly slug: 'waiting' | 'beginning' | 'publishing' | 'ending' };

type IngressOutcome = {
  readonly ingressId: string;
  readonly isPlaced: boolean;
  /** Milliseconds from the kill until the push had both tracks in the room again; undefined where it had ended. */
  readonly publishedMs: number | undefined;
  /** Milliseconds from the end of the push until nobody was in the room. */
  readonly leftMs: number;
  /** Requests to the service that were not successful. */
  readonly failures: readonly string[];
  readonly isDeleted: boolean;
};

/** Pushes to a new ingress, kills the worker in the state and starts another one at its address. */
async function killIngressWorker(
  stage: IngressStage,
  slug: IngressState['slug'],
  kind: PushKind,
): Promise<IngressOutcome> {
  const { client } = stage;
  const room = `ingress-${kind}-${slug}`;
  const failures: string[] = [];
  const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const { status, json, text } = await client.call(method, path, body);
    if (status >= 300) failures.push(`${method} ${path}: ${status} ${text}`);
    return json;
  };
  const tracksIn = async (): Promise<readonly string[]> => {
    const { participants = [] }: { participants?: readonly Participant[] } = await call(
      'GET',
      `/v1/rooms/${room}/participants`,
    );
    return participants.flatMap(({ tracks }) => tracks.map(({ sid }) => sid));
  };
  await call('POST', '/v1/rooms', { name: room, emptyTimeout: 3_600 });
  const made = await call('POST', `/v1/rooms/${room}/ingress`, { type: kind, participantName: 'Camera' });
  const ingressId = String(made.ingressId);
  const endpoint = { url: String(made.url), streamKey: String(made.streamKey) };
  const startPush = (): Promise<Push> => stage.startPush(endpoint, kind);
  let push = slug === 'waiting' ? undefined : await startPush();
  let isPlaced = true;
  if (slug === 'beginning')
    isPlaced = await isSeen(async () => BEGUN.includes(await stage.readState(ingressId)));
  else if (push !== undefined) isPlaced = await isSeen(async () => (await tracksIn()).length >= TRACKS);
  const before = new Set(slug === 'waiting' ? [] : await tracksIn());
  if (slug === 'ending') await push?.close();
  await stage.killWorker();
  const killedAt = performance.now();
  await stage.startWorkerAgain();
  push ??= await startPush();
  const publishedMs =
    slug === 'ending'
      ? undefined
      : await msUntil(killedAt, async () => {
          const tracks = await tracksIn();
          return tracks.length >= TRACKS && !tracks.some((sid) => before.has(sid));
        });
  const endedAt = performance.now();
  await push.close();
  const leftMs = await msUntil(endedAt, async () => (await tracksIn()).length === 0);
  await call('DELETE', `/v1/rooms/${room}/ingress/${ingressId}`);
  const isDeleted = (await stage.readState(ingressId)) === undefined;
  await call('DELETE', `/v1/rooms/${room}`);
  return { ingressId, isPlaced, publishedMs, leftMs, failures, isDeleted };
}

type Participant = { readonly tracks: readonly { readonly sid: string }[] };

async function msUntil(since: number, isSo: () => Promise<boolean>): Promise<number> {
  if (!(await isSeen(isSo))) return Number.POSITIVE_INFINITY;
  return Math.round(performance.now() - since);
}

/** Whether it became true in time. */
async function isSeen(isSo: () => Promise<boolean>): Promise<boolean> {
  return (await findWithin(PACE, isSo)) !== undefined;
}

/** A real LiveKit with its Redis and its ingress service, a browser, one instance of the service, and a receiver of its webhooks. */
type IngressStage = Awaited<ReturnType<typeof startIngressStage>>;

type PushKind = (typeof INGRESS_TYPES)[number];

async function startIngressStage({ cleanUp }: Cleaning) {
  const [rtmpPort, whipPort, port] = [await freePort(), await freePort(), await freePort()];
  const redis = cleanUp(await startRedis());
  const webhookUrl = `http://127.0.0.1:${port}/livekit/webhook`;
  const livekit = cleanUp(
    await startLivekit({
      redis,
      webhookUrl,
      ingressRtmpUrl: toRtmpUrl(rtmpPort),
      ingressWhipUrl: toWhipUrl(whipPort),
    }),
  );
  const addresses = { redis, livekit, rtmpPort, whipPort };
  let worker: Ingress = await startIngress(addresses);
  cleanUp(() => worker.close());
  const browser = cleanUp(await startBrowser());
  const environment = mediaServerSettings(livekit);
  const { client } = await startService({ cleanUp }, { environment, port, connections: CONNECTIONS });
  const receiver = cleanUp(await startReceiver());
  const events = ['ingress_started', 'ingress_stopped'];
  const { json } = await client.call('POST', '/v1/webhooks', { url: receiver.url, events });
  const ingresses = new IngressClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  return {
    client,
    /** LiveKit's own state of the ingress, such as 1 for buffering and 2 for publishing. */
    readState: async (wanted: string) =>
      (await ingresses.listIngress({})).find(({ ingressId }) => ingressId === wanted)?.state?.status,
    killWorker: () => worker.kill(),
    startWorkerAgain: async () => {
      worker = await startIngress(addresses);
    },
    /** Pushes to an ingress again and again until the push is closed. */
    startPush: async ({ url, streamKey }: WhipEndpoint, kind: PushKind): Promise<Push> =>
      kind === 'rtmp'
        ? keepPushing(`${url}/${streamKey}`)
        : await keepPushingByWhip(browser, { url, streamKey }),
    listEvents: (ingressId: string) =>
      receiver.received.filter(({ body }) => body.ingress?.ingressId === ingressId),
    isSigned: (received: Received) =>
      received.headers['x-service-webhook-signature'] ===
      expectedSignatures(received, String(json.secret)).specified,
  };
}

type WhipEndpoint = { readonly url: string; readonly streamKey: string };

/**
 * Pushes the camera and the microphone of a browser by WHIP until it is closed. It begins again when the connection breaks off
 * or the ingress service does not accept it.
 */
async function keepPushingByWhip(browser: TestBrowser, endpoint: WhipEndpoint): Promise<Push> {
  const window = await browser.openWindow();
  const page = await window.newPage();
  const lines: string[] = [];
  page.on('console', (message) => lines.push(message.text()));
  // A page of the ingress service itself may use the camera, and send requests to that address.
  await page.goto(new URL('/', endpoint.url).href);
  await page.addScriptTag({ path: SCRIPT });
  const pushing = page.evaluate(`pushByWhip(${JSON.stringify(endpoint)})`);
  pushing.catch((error: unknown) => lines.push(String(error)));
  return {
    output: () => lines.join('\n'),
    close: async () => {
      if (page.isClosed()) return;
      await page.evaluate('endPush()');
      await pushing;
      await window.close();
    },
  };
}

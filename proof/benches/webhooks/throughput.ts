import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import {
  formatWebhookSecret,
  STANDARD_SIGNATURE_HEADER,
  signBody,
  signStandard,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type WebhookSigningKeys,
  webhookSigningKeys,
} from '../../../src/contract/webhook-signing.ts';
import { MAX_EVENTS_PER_COMMIT } from '../../../src/server/media-events/media-event-routes.ts';
import { CONCURRENCY_PER_WEBHOOK } from '../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import type { WebhookRequest } from '../../../src/server/webhooks/sender/sender.ts';
import { measurePeer, type Peer, startPeers } from './peers.ts';
import {
  type Database,
  measureStored,
  openStage,
  type Place,
  type Stored,
  type WebhookStage,
} from './stage.ts';

/** How much a bench measures. */
export type Amount = {
  readonly rounds: number;
  /** Webhooks of one event. */
  readonly webhooks: number;
  /** Events of one webhook. */
  readonly events: number;
  readonly bareRequests: number;
  /** Jobs of each other queue on PostgreSQL; 0 measures none. */
  readonly peerJobs: number;
};

/** The bare loop must run for a second, not for an accidentally fast moment. */
export const WHOLE_AMOUNT: Amount = {
  ...{ rounds: 5, webhooks: 1_000, events: 8_000, bareRequests: 16_000, peerJobs: 2_000 },
};

/** Concurrency of the dispatcher when one event has a thousand deliveries. */
const FAN_OUT_CONCURRENCY = 256;

/** Interval of the question whether all is done. It is not shorter, because the question runs on the measured thread. */
const ASKED_EVERY_MS = 10;

/**
 * Deliveries per second, and requests per second of two loops that store nothing: `bare` repeats a request that is signed
 * already, and `signed` signs each request as every sender has to.
 */
export type Rate = {
  readonly perSecond: number;
  /** How many requests the receiver got, and how many deliveries were stored. */
  readonly arrived: number;
  readonly stored: number;
  /** Jobs per second of the other queues, by name. */
  readonly peers: ReadonlyMap<Peer['name'], number>;
  /** Rows and bytes by which the database has grown for each event with its deliveries. */
  readonly grown: Stored;
} & Floors;

type Floors = { readonly bare: number; readonly signed: number };

/**
 * Measures one event for many webhooks, several times: deliveries per second from the insert to the last stored outcome.
 */
export function measureFanOut(place: Place, amount: Amount): Promise<readonly Rate[]> {
  return measure(place, { ...amount, events: 1, peerJobs: 0, concurrency: FAN_OUT_CONCURRENCY });
}

/** Measures many events for one webhook. */
export function measureStream(place: Place, amount: Amount): Promise<readonly Rate[]> {
  return measure(place, { ...amount, webhooks: 1, concurrency: CONCURRENCY_PER_WEBHOOK });
}

async function measure(
  { database, receiver }: Place,
  amount: Amount & { readonly concurrency: number },
): Promise<readonly Rate[]> {
  const stage = await openStage(database);
  const webhooks = await stage.addWebhooks(receiver.url, amount.webhooks);
  const rates: Rate[] = [];
  // Warms up: opens connections and compiles code.
  await deliver(stage, webhooks, amount.events);
  const peers = await openPeers(stage, database, amount);
  for (let round = 0; round < amount.rounds; round += 1) {
    const floors = await measureFloors(stage, amount);
    const [before, small] = [await receiver.countArrived(), await measureStored(database)];
    const perSecond = await deliver(stage, webhooks, amount.events);
    const [after, large] = [await receiver.countArrived(), await measureStored(database)];
    const stored = webhooks.length * amount.events;
    const grown = {
      rows: (large.rows - small.rows) / amount.events,
      bytes: (large.bytes - small.bytes) / amount.events,
    };
    const peerRates = new Map<Peer['name'], number>();
    for (const peer of peers) peerRates.set(peer.name, await measurePeer(peer, amount.peerJobs));
    rates.push({ perSecond, arrived: after - before, stored, grown, peers: peerRates, ...floors });
  }
  for (const peer of peers) await peer.close();
  await removeAll(stage, webhooks);
  await stage.close();
  return rates;
}

type FloorLoad = { readonly bareRequests: number; readonly concurrency: number };

async function measureFloors(stage: WebhookStage, { bareRequests, concurrency }: FloorLoad): Promise<Floors> {
  const sample = stage.sample();
  const load = { count: bareRequests, concurrency };
  return { bare: await bareLoop(() => sample, load), signed: await bareLoop(signing(sample), load) };
}

type PeerLoad = { readonly peerJobs: number; readonly concurrency: number };

/** The other queues send what the signing loop sends, by the same client. */
async function openPeers(
  stage: WebhookStage,
  { options }: Database,
  { peerJobs, concurrency }: PeerLoad,
): Promise<readonly Peer[]> {
  if (peerJobs === 0 || !('databaseUrl' in options)) return [];
  const { url, body } = stage.sample();
  const next = signing(stage.sample());
  const sender = openSender(concurrency);
  const send = () => sender.post(next());
  const payload = { url, body };
  const peers = await startPeers({ databaseUrl: options.databaseUrl, send, concurrency, payload });
  for (const peer of peers) await measurePeer(peer, peerJobs);
  return peers;
}

async function deliver(stage: WebhookStage, webhooks: readonly string[], events: number): Promise<number> {
  const startedAt = performance.now();
  for (let appended = 0; appended < events; appended += MAX_EVENTS_PER_COMMIT) {
    await stage.append(Math.min(MAX_EVENTS_PER_COMMIT, events - appended));
  }
  while ((await stage.store.deliveries.nextClaimableAt([])) !== undefined) await delay(ASKED_EVERY_MS);
  const perSecond = (webhooks.length * events * 1000) / (performance.now() - startedAt);
  const [first = ''] = webhooks;
  const [last] = await stage.store.deliveries.list({ webhookId: first, limit: 1 });
  if (last?.state !== 'delivered') throw new Error('the deliveries were not made');
  return perSecond;
}

async function removeAll({ store }: WebhookStage, webhooks: readonly string[]): Promise<void> {
  for (const id of webhooks) await store.webhooks.delete(id, Date.now());
  while ((await store.deliveries.purge(0, 5_000)) > 0);
}

type BareLoad = { readonly count: number; readonly concurrency: number };

/**
 * Sends the requests that `next` returns, without storing anything, `concurrency` at a time. Reads each response and checks
 * its status. Returns requests per second.
 */
async function bareLoop(next: () => WebhookRequest, { count, concurrency }: BareLoad): Promise<number> {
  const { post, close } = openSender(concurrency);
  let left = count;
  const postAll = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await post(next());
    }
  };
  // Connections are opened beforehand, because the service also has them when it delivers.
  await Promise.all(Array.from({ length: concurrency }, () => post(next())));
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, postAll));
  const rate = (count * 1000) / (performance.now() - startedAt);
  await close();
  return rate;
}

function openSender(connections: number) {
  const dispatcher = new Agent({ connections });
  return {
    post: async ({ url, headers, body }: WebhookRequest): Promise<void> => {
      const response = await request(url, { dispatcher, method: 'POST', headers, body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`the receiver responded with ${response.statusCode}`);
    },
    close: () => dispatcher.close(),
  };
}

function signing(sample: WebhookRequest): () => WebhookRequest {
  const keys = webhookSigningKeys(formatWebhookSecret(randomBytes(32)));
  return () => signedAgain(sample, keys);
}

/** Signs the request again as a delivery is signed: with both signatures and the present time. */
function signedAgain({ url, headers, body }: WebhookRequest, keys: WebhookSigningKeys): WebhookRequest {
  const timestamp = Math.floor(Date.now() / 1000);
  const id = headers[WEBHOOK_ID_HEADER] ?? '';
  return {
    url,
    body,
    headers: {
      ...headers,
      [WEBHOOK_SIGNATURE_HEADER]: signBody(body, keys),
      [WEBHOOK_TIMESTAMP_HEADER]: String(timestamp),
      [STANDARD_SIGNATURE_HEADER]: signStandard({ id, timestamp, body }, keys),
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Push } from '../../../test/ingress-rtmp/keep-pushing.ts';
import type { IngressStage, PushKind } from './ingress-stage.ts';

/** The activity of an ingress worker at the time of its death. */
export type IngressState = {
  readonly name: string;
  readonly slug: 'waiting' | 'beginning' | 'publishing' | 'ending';
};

export const INGRESS_STATES: readonly IngressState[] = [
  { name: 'while it waits for a push', slug: 'waiting' },
  { name: 'while a push begins', slug: 'beginning' },
  { name: 'while it publishes a push', slug: 'publishing' },
  { name: 'as a push ends', slug: 'ending' },
];

export type IngressOutcome = {
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

/** LiveKit's ENDPOINT_BUFFERING and ENDPOINT_PUBLISHING. A push by WHIP is buffered for a moment only. */
const BEGUN: readonly (number | undefined)[] = [1, 2];
const TRACKS = 2;
const LOOK_MS = 50;
const DEADLINE_MS = 120_000;

/** Pushes to a new ingress, kills the worker in the state and starts another one at its address. */
export async function killIngressWorker(
  stage: IngressStage,
  { slug }: IngressState,
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
    isPlaced = await isSeen(async () => BEGUN.includes(await stage.stateOf(ingressId)));
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
  const isDeleted = (await stage.stateOf(ingressId)) === undefined;
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
  const deadline = performance.now() + DEADLINE_MS;
  while (performance.now() < deadline) {
    if (await isSo()) return true;
    await delay(LOOK_MS);
  }
  return false;
}

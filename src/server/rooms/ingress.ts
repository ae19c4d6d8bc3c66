import { ServiceError } from '../../contract/errors.ts';
import type { Ingress, IngressCreate } from '../../contract/ingress.ts';
import type { IdGenerator } from '../platform/clock.ts';
import type { MediaWorkers } from '../platform/livekit/media-workers.ts';
import type { MediaDeps } from './rooms.ts';

export type CreateIngressDeps = MediaDeps & {
  readonly ids: IdGenerator;
  readonly mediaWorkers: MediaWorkers;
};

/**
 * Creates an ingress. The room need not exist yet, because the stream creates it. Throws media-worker-unavailable when no
 * ingress worker is connected: the media server would return an address at which nothing listens.
 */
export async function createIngress(
  deps: CreateIngressDeps,
  room: string,
  request: IngressCreate,
): Promise<Ingress> {
  const { ingress: workers } = await deps.mediaWorkers.count();
  if (workers === 0) throw noIngressWorker();
  return await deps.mediaServer.createIngress({
    room,
    type: request.type ?? 'rtmp',
    participantName: request.participantName ?? 'Ingress Stream',
    participantIdentity: request.participantIdentity ?? `ingress_${deps.ids.next()}`,
  });
}

function noIngressWorker(): ServiceError {
  return new ServiceError(
    'media-worker-unavailable',
    "No ingress worker is connected to the media server's Redis: nothing would receive the stream",
    { retryable: true, hint: { text: 'start one (image livekit/ingress) on it' } },
  );
}

/** Deletes an ingress. Throws ingress-not-found, also for an ingress of another room. */
export async function deleteIngress(deps: MediaDeps, room: string, ingressId: string): Promise<void> {
  const ofRoom = await deps.mediaServer.listIngress(room);
  if (!ofRoom.some((ingress) => ingress.ingressId === ingressId)) {
    throw new ServiceError('ingress-not-found', `The room has no ingress ${JSON.stringify(ingressId)}.`);
  }
  await deps.mediaServer.deleteIngress(ingressId);
}

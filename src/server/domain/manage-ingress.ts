import { ServiceError } from '../../contract/errors.ts';
import type { Ingress, IngressCreate } from '../../contract/ingress.ts';
import type { IdGenerator } from '../ports/clock.ts';
import type { MediaDeps } from './find-room.ts';

/** The room need not exist yet: the stream makes it. */
export async function createIngress(
  deps: MediaDeps & { readonly ids: IdGenerator },
  room: string,
  request: IngressCreate,
): Promise<Ingress> {
  return await deps.mediaServer.createIngress({
    room,
    type: request.type ?? 'rtmp',
    participantName: request.participantName ?? 'Ingress Stream',
    participantIdentity: request.participantIdentity ?? `ingress_${deps.ids.next()}`,
  });
}

/** Throws ingress-not-found, also for an ingress of another room. */
export async function deleteIngress(deps: MediaDeps, room: string, ingressId: string): Promise<void> {
  const ofRoom = await deps.mediaServer.listIngress(room);
  if (!ofRoom.some((ingress) => ingress.ingressId === ingressId)) {
    throw new ServiceError('ingress-not-found', `The room has no ingress ${JSON.stringify(ingressId)}.`);
  }
  await deps.mediaServer.deleteIngress(ingressId);
}

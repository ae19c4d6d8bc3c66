import {
  CreateIngressRequest,
  DeleteIngressRequest,
  IngressInfo,
  IngressInput,
  IngressState,
  ListIngressRequest,
  ListIngressResponse,
} from '@livekit/protocol';
import { ensureGrant } from './access.ts';
import type { IngressUrls, World } from './settings.ts';
import type { Streams } from './streams.ts';
import { type TwirpService, twirpMethod, unimplemented } from './twirp.ts';
import { innerFailure, TwirpFailure } from './twirp-error.ts';

/** livekit.Ingress for pushed streams (RTMP and WHIP). An ingress may name a room that does not exist yet. */
export function ingressService(world: World, streams: Streams, urls: IngressUrls): TwirpService {
  return {
    CreateIngress: twirpMethod(CreateIngressRequest, (request, access) => {
      ensureGrant(access, 'ingressAdmin');
      ensureRedis(world);
      const info = newIngress(request, world, urls);
      streams.add(info);
      return info;
    }),
    ListIngress: twirpMethod(ListIngressRequest, ({ roomName, ingressId }, access) => {
      ensureGrant(access, 'ingressAdmin');
      ensureRedis(world);
      if (ingressId !== '') return new ListIngressResponse({ items: [findIngress(streams, ingressId)] });
      const items = streams.list().filter((info) => roomName === '' || info.roomName === roomName);
      return new ListIngressResponse({ items });
    }),
    DeleteIngress: twirpMethod(DeleteIngressRequest, ({ ingressId }, access) => {
      ensureGrant(access, 'ingressAdmin');
      // The real one dereferences nil there.
      if (world.faults().redis === 'absent') throw new TwirpFailure('internal', 'Internal service panic');
      const info = findIngress(streams, ingressId);
      streams.remove(ingressId);
      return info;
    }),
    UpdateIngress: unimplemented('UpdateIngress'),
  };
}

function newIngress(request: CreateIngressRequest, { ids }: World, urls: IngressUrls): IngressInfo {
  const { inputType, participantIdentity } = request;
  if (inputType === IngressInput.URL_INPUT) {
    throw new TwirpFailure('unimplemented', 'the embedded media server pulls no streams');
  }
  if (participantIdentity === '') {
    throw innerFailure('invalid_argument', 'invalid ingress: no participant identity');
  }
  const isRtmp = inputType === IngressInput.RTMP_INPUT;
  const enableTranscoding = request.enableTranscoding ?? isRtmp;
  return new IngressInfo({
    ingressId: `IN_${ids.next()}`,
    name: request.name,
    streamKey: ids.next(),
    url: isRtmp ? urls.rtmp : urls.whip,
    inputType,
    roomName: request.roomName,
    participantIdentity,
    participantName: request.participantName,
    participantMetadata: request.participantMetadata,
    reusable: true,
    state: new IngressState(),
    enableTranscoding,
    bypassTranscoding: !enableTranscoding,
    ...(request.enabled !== undefined && { enabled: request.enabled }),
  });
}

function findIngress(streams: Streams, ingressId: string): IngressInfo {
  const info = streams.find(ingressId);
  if (info === undefined) throw innerFailure('not_found', 'ingress does not exist');
  return info;
}

function ensureRedis({ faults }: World): void {
  if (faults().redis === 'absent') throw innerFailure('internal', 'ingress not connected (redis required)');
}

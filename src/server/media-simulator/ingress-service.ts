import {
  CreateIngressRequest,
  DeleteIngressRequest,
  IngressInfo,
  IngressInput,
  IngressState,
  ListIngressRequest,
  ListIngressResponse,
} from '@livekit/protocol';
import type { IngressUrls, SimulatorContext } from './settings.ts';
import type { Streams } from './streams.ts';
import {
  ensureGrant,
  psrpcError,
  TwirpError,
  type TwirpService,
  twirpMethod,
  unimplemented,
} from './twirp.ts';

/** Implements livekit.Ingress for pushed streams (RTMP and WHIP). An ingress may name a room that does not exist yet. */
export function ingressService(context: SimulatorContext, streams: Streams, urls: IngressUrls): TwirpService {
  return {
    CreateIngress: twirpMethod(CreateIngressRequest, (request, access) => {
      ensureGrant(access, 'ingressAdmin');
      ensureRedis(context);
      const info = newIngress(request, context, urls);
      streams.add(info);
      return info;
    }),
    ListIngress: twirpMethod(ListIngressRequest, ({ roomName, ingressId }, access) => {
      ensureGrant(access, 'ingressAdmin');
      ensureRedis(context);
      if (ingressId !== '') return new ListIngressResponse({ items: [findIngress(streams, ingressId)] });
      const items = streams.list().filter((info) => roomName === '' || info.roomName === roomName);
      return new ListIngressResponse({ items });
    }),
    DeleteIngress: twirpMethod(DeleteIngressRequest, ({ ingressId }, access) => {
      ensureGrant(access, 'ingressAdmin');
      // The real server dereferences nil here.
      if (context.faults().redis === 'absent') throw new TwirpError('internal', 'Internal service panic');
      const info = findIngress(streams, ingressId);
      streams.remove(ingressId);
      return info;
    }),
    UpdateIngress: unimplemented('UpdateIngress'),
  };
}

function newIngress(
  request: CreateIngressRequest,
  { ids }: SimulatorContext,
  urls: IngressUrls,
): IngressInfo {
  const { inputType, participantIdentity } = request;
  if (inputType === IngressInput.URL_INPUT) {
    throw new TwirpError('unimplemented', 'the embedded media server pulls no streams');
  }
  if (participantIdentity === '') {
    throw psrpcError('invalid_argument', 'invalid ingress: no participant identity');
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
  if (info === undefined) throw psrpcError('not_found', 'ingress does not exist');
  return info;
}

function ensureRedis({ faults }: SimulatorContext): void {
  if (faults().redis === 'absent') throw psrpcError('internal', 'ingress not connected (redis required)');
}

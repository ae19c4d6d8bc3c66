import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreateIngressRequest,
  DeleteIngressRequest,
  type EgressInfo,
  EgressStatus,
  IngressInfo,
  IngressInput,
  IngressState,
  ListEgressRequest,
  ListEgressResponse,
  ListIngressRequest,
  ListIngressResponse,
  RoomCompositeEgressRequest,
  StopEgressRequest,
  UpdateStreamRequest,
} from '@livekit/protocol';
import { createControl, type EmbeddedControl } from './control.ts';
import { createHttpApi } from './http-api.ts';
import { fileOutput, UnsupportedOutputError } from './recorder-outputs.ts';
import { isOver, Recorders } from './recorders.ts';
import { agentDispatchService, roomService } from './room-service.ts';
import { Rooms } from './rooms.ts';
import {
  type EmbeddedMediaSettings,
  type Faults,
  type IngressUrls,
  MEASURED_TIMINGS,
  NO_FAULTS,
  type SimulatorContext,
} from './settings.ts';
import { createStreams, type Streams } from './streams.ts';
import { ensureGrant, psrpcError, TwirpError, type TwirpService, twirpMethod } from './twirp.ts';
import { createEventStream, createWebhooks } from './webhooks.ts';

export type EmbeddedMediaServer = {
  /** Address: http://HOST:PORT */
  readonly url: string;
  readonly control: EmbeddedControl;
  /** Closes every connection and ends every wait. Recordings and queued webhooks are lost. */
  readonly close: () => Promise<void>;
};

/**
 * A stand-in for LiveKit's API in this process: rooms, simulated participants, recordings, ingress and signed
 * webhooks. IT CARRIES NO MEDIA: no client can connect, recordings are black and silent. It keeps everything in
 * memory. Rejects with the system's error (EADDRINUSE and the like) when it cannot listen.
 */
export async function startEmbeddedMediaServer(
  settings: EmbeddedMediaSettings,
): Promise<EmbeddedMediaServer> {
  const closing = new AbortController();
  const { handle, refuseUpgrade, control } = assemble(settings, closing.signal);
  const server = createServer(handle);
  server.on('upgrade', (_request, socket) => refuseUpgrade(socket));
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    url: `http://${host}:${port}`,
    control,
    close: async () => {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function assemble(settings: EmbeddedMediaSettings, closing: AbortSignal) {
  let faults: Faults = { ...NO_FAULTS, ...settings.faults };
  const context: SimulatorContext = {
    clock: settings.clock,
    ids: settings.ids,
    enableRemoteUnmute: settings.enableRemoteUnmute ?? false,
    timings: { ...MEASURED_TIMINGS, ...settings.timings },
    faults: () => faults,
    closing,
    log: settings.log,
  };
  const keys = {
    apiKey: settings.apiKey,
    apiSecret: settings.apiSecret,
    tokenTime: settings.tokenTime ?? Date.now,
  };
  const events = createEventStream();
  const webhooks = createWebhooks(context, { ...keys, urls: settings.webhookUrls ?? [] });
  // Webhooks subscribe before the recorders, which react to events by emitting further ones.
  events.subscribe(webhooks.notify);
  const rooms = new Rooms(context, events);
  const recorders = new Recorders(context, { rooms, events, recordingDir: settings.recordingDir });
  const streams = createStreams(context, rooms, events);
  const setFaults = (changed: Partial<Faults>) => {
    faults = { ...faults, ...changed };
  };
  const control = createControl(context, {
    rooms,
    recorders,
    streams,
    setFaults,
    webhooksSettled: webhooks.settled,
  });
  const services = {
    'livekit.RoomService': roomService(context, rooms),
    'livekit.AgentDispatchService': agentDispatchService(context, rooms),
    'livekit.Egress': egressService(context, rooms, recorders),
    'livekit.Ingress': ingressService(context, streams, { rtmp: '', whip: '', ...settings.ingressUrls }),
  };
  return { ...createHttpApi(context, { keys, services, control }), control };
}

/** Implements livekit.Egress for room composites with a file, or with streams and HLS; there are no other kinds. */
function egressService(context: SimulatorContext, rooms: Rooms, recorders: Recorders): TwirpService {
  return {
    StartRoomCompositeEgress: twirpMethod(RoomCompositeEgressRequest, async (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (rooms.find(request.roomName) === undefined) {
        throw psrpcError('not_found', 'requested room does not exist');
      }
      ensureSupported(request);
      await findRecorder(context);
      const info = recorders.start(request);
      await context.clock.sleep(context.timings.startResponseMs, context.closing);
      return info;
    }),
    ListEgress: twirpMethod(ListEgressRequest, (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (context.faults().redis === 'absent') throw noRedis();
      return new ListEgressResponse({ items: findEgress(request, recorders) });
    }),
    UpdateStream: twirpMethod(UpdateStreamRequest, async (request, access) => {
      ensureGrant(access, 'roomRecord');
      const run = await reach(request.egressId, context, recorders);
      try {
        recorders.update(run, request);
      } catch (error) {
        if (!(error instanceof UnsupportedOutputError)) throw error;
        throw psrpcError('invalid_argument', error.message);
      }
      return run.info;
    }),
    StopEgress: twirpMethod(StopEgressRequest, ({ egressId }, access) => {
      ensureGrant(access, 'roomRecord');
      return stop(egressId, context, recorders);
    }),
  };
}

/** Finds a recorder. Without Redis a start fails as if there were no recorder; only the other calls mention Redis. */
async function findRecorder({ clock, closing, timings, faults }: SimulatorContext): Promise<void> {
  const { redis, recorder } = faults();
  if (redis === 'absent' || recorder === 'absent') {
    await clock.sleep(timings.noRecorderMs, closing);
    throw psrpcError('unavailable', 'no response from servers');
  }
  await clock.sleep(recorder === 'slow' ? timings.slowStartMs : timings.startMs, closing);
}

function findEgress(request: ListEgressRequest, recorders: Recorders): EgressInfo[] {
  if (request.egressId !== '') {
    const run = recorders.find(request.egressId);
    if (run === undefined) throw psrpcError('not_found', 'egress does not exist');
    return [run.info];
  }
  return recorders
    .list()
    .filter(({ roomName }) => request.roomName === '' || roomName === request.roomName)
    .filter((info) => !request.active || !isOver(info));
}

async function stop(egressId: string, context: SimulatorContext, recorders: Recorders): Promise<EgressInfo> {
  const run = await reach(egressId, context, recorders);
  recorders.stop(run);
  return run.info;
}

/** Returns a running egress. When no living recorder responds, the egress is read after the time-out. */
async function reach(egressId: string, context: SimulatorContext, recorders: Recorders) {
  const run = recorders.find(egressId);
  const isReachable = context.faults().redis === 'present' && run !== undefined && !run.isDead;
  if (isReachable && !isOver(run.info)) return run;
  await context.clock.sleep(context.timings.noResponseMs, context.closing);
  if (context.faults().redis === 'absent') throw noRedis();
  if (run === undefined) throw psrpcError('not_found', 'egress does not exist');
  if (run.info.status < EgressStatus.EGRESS_ENDING)
    throw psrpcError('deadline_exceeded', 'request timed out');
  const status = EgressStatus[run.info.status];
  throw new TwirpError('failed_precondition', `egress with status ${status} cannot be stopped`);
}

function noRedis(): TwirpError {
  return psrpcError('internal', 'egress not connected (redis required)');
}

function ensureSupported(request: RoomCompositeEgressRequest): void {
  try {
    fileOutput(request);
  } catch (error) {
    if (!(error instanceof UnsupportedOutputError)) throw error;
    throw psrpcError('invalid_argument', error.message);
  }
}

/** Implements livekit.Ingress for pushed streams (RTMP and WHIP). An ingress may name a room that does not exist yet. */
function ingressService(context: SimulatorContext, streams: Streams, urls: IngressUrls): TwirpService {
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

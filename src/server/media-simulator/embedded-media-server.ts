import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createControl, type EmbeddedControl } from './control.ts';
import { egressService } from './egress-service.ts';
import { createHttpApi } from './http-api.ts';
import { ingressService } from './ingress-service.ts';
import { createRecorders } from './recorders.ts';
import { agentDispatchService, roomService } from './room-service.ts';
import { createRooms } from './rooms.ts';
import {
  type EmbeddedMediaSettings,
  type Faults,
  MEASURED_TIMINGS,
  NO_FAULTS,
  type SimulatorContext,
} from './settings.ts';
import { createStreams } from './streams.ts';
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
  const rooms = createRooms(context, events);
  const recorders = createRecorders(context, { rooms, events, recordingDir: settings.recordingDir });
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

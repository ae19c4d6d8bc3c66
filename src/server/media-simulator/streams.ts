import {
  DisconnectReason,
  type IngressInfo,
  IngressState,
  IngressState_Status,
  ParticipantInfo_Kind,
  ParticipantPermission,
  TrackInfo,
  TrackSource,
  TrackType,
} from '@livekit/protocol';
import type { Rooms } from './rooms.ts';
import type { SimulatorContext } from './settings.ts';
import type { EventStream } from './webhooks.ts';

export type Streams = ReturnType<typeof createStreams>;

/** The ingresses and their simulated streams. */
export function createStreams(context: SimulatorContext, rooms: Rooms, events: EventStream) {
  const ingresses = new Map<string, IngressInfo>();
  const nowNs = () => BigInt(context.clock.now()) * 1_000_000n;

  const existing = (ingressId: string): IngressInfo => {
    const info = ingresses.get(ingressId);
    if (info === undefined) throw new Error(`there is no ingress "${ingressId}"`);
    return info;
  };

  const end = (info: IngressInfo) => {
    rooms.leave(info.roomName, info.participantIdentity, DisconnectReason.CLIENT_INITIATED);
    const state = ensureState(info);
    state.status = IngressState_Status.ENDPOINT_INACTIVE;
    state.endedAt = nowNs();
    events.emit({ event: 'ingress_ended', ingressInfo: info });
  };

  return {
    add: (info: IngressInfo): void => {
      ingresses.set(info.ingressId, info);
    },
    find: (ingressId: string) => ingresses.get(ingressId),
    list: () => [...ingresses.values()],
    remove: (ingressId: string): void => {
      const info = existing(ingressId);
      if (isPublishing(info)) end(info);
      ingresses.delete(ingressId);
    },
    /** Simulates a broadcaster that connects: joins, and publishes audio and video. */
    begin: (ingressId: string): void => {
      const info = existing(ingressId);
      const { roomName, participantIdentity: identity, participantName: name } = info;
      rooms.join(roomName, {
        identity,
        name,
        kind: ParticipantInfo_Kind.INGRESS,
        permission: STREAM_PERMISSION,
      });
      info.state = new IngressState({
        status: IngressState_Status.ENDPOINT_PUBLISHING,
        roomId: rooms.find(roomName)?.info.sid ?? '',
        startedAt: nowNs(),
      });
      events.emit({ event: 'ingress_started', ingressInfo: info });
      for (const track of streamTracks(context)) rooms.publish(roomName, identity, track);
    },
    end: (ingressId: string) => end(existing(ingressId)),
  };
}

const STREAM_PERMISSION = new ParticipantPermission({ canPublish: true, canPublishData: true });

function isPublishing(info: IngressInfo): boolean {
  return info.state?.status === IngressState_Status.ENDPOINT_PUBLISHING;
}

function ensureState(info: IngressInfo): IngressState {
  info.state ??= new IngressState();
  return info.state;
}

function streamTracks({ ids }: SimulatorContext): readonly TrackInfo[] {
  return [
    new TrackInfo({
      sid: `TR_${ids.next()}`,
      type: TrackType.AUDIO,
      source: TrackSource.MICROPHONE,
      name: 'audio',
    }),
    new TrackInfo({
      sid: `TR_${ids.next()}`,
      type: TrackType.VIDEO,
      source: TrackSource.CAMERA,
      name: 'video',
    }),
  ];
}

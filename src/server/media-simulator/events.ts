import type { EgressInfo, IngressInfo, ParticipantInfo, Room, TrackInfo } from '@livekit/protocol';

/** The events of the media server, named as in LiveKit's webhooks. */
export type MediaEvent =
  | { readonly event: 'room_started' | 'room_finished'; readonly room: Room }
  | {
      readonly event: 'participant_joined' | 'participant_left';
      readonly room: Room;
      readonly participant: ParticipantInfo;
    }
  | {
      readonly event: 'track_published' | 'track_unpublished';
      readonly room: Room;
      readonly participant: ParticipantInfo;
      readonly track: TrackInfo;
    }
  | {
      readonly event: 'egress_started' | 'egress_updated' | 'egress_ended';
      readonly egressInfo: EgressInfo;
    }
  | { readonly event: 'ingress_started' | 'ingress_ended'; readonly ingressInfo: IngressInfo };

export type EventListener = (event: MediaEvent) => void;

/** Calls its listeners synchronously, in the order of their subscription. Listeners must copy what they keep. */
export type EventStream = {
  readonly emit: EventListener;
  readonly subscribe: (listener: EventListener) => void;
};

export function createEventStream(): EventStream {
  const listeners: EventListener[] = [];
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    subscribe: (listener) => {
      listeners.push(listener);
    },
  };
}

import type { Message } from '@bufbuild/protobuf';
import { TrackSource, TrackType } from '@livekit/protocol';
import { type Access, NOBODY } from './access.ts';
import type { EmbeddedControl, SimulatedTrack } from './control.ts';
import { RoomFull } from './rooms.ts';

/*
 * POST /embedded/join, /embedded/publish, /embedded/leave: what a client would do over its WebSocket, done as
 * the holder of a LiveKit access token that grants the join of a room. Room, identity, name, metadata, attributes
 * and permissions are the token's. Answers JSON: the participant, the track, or {left}; errors {error}.
 */
export type ControlAnswer = { readonly status: number; readonly body: string };

export type ControlRequest = {
  readonly action: string;
  readonly access: Access;
  readonly body: Buffer;
};

export function answerControl(control: EmbeddedControl, request: ControlRequest): ControlAnswer {
  const { access, action } = request;
  const room = access.video.room ?? '';
  if (access === NOBODY || access.video.roomJoin !== true || room === '') {
    return refusal(401, 'a LiveKit access token is needed that grants the join of a room');
  }
  if (action === 'join') return join(control, room, access);
  if (action === 'leave') return answer({ left: control.leave(room, access.identity) });
  if (action === 'publish') return publish(control, room, request);
  return refusal(404, 'there are /embedded/join, /embedded/publish and /embedded/leave');
}

function join(control: EmbeddedControl, room: string, access: Access): ControlAnswer {
  const { identity, name, metadata, attributes, video } = access;
  if (identity === '') return refusal(400, 'the token names no identity');
  const permission = {
    ...(video.canPublish !== undefined && { canPublish: video.canPublish }),
    ...(video.canSubscribe !== undefined && { canSubscribe: video.canSubscribe }),
    ...(video.canPublishData !== undefined && { canPublishData: video.canPublishData }),
    ...(video.hidden !== undefined && { hidden: video.hidden }),
    ...(video.agent !== undefined && { agent: video.agent }),
  };
  try {
    return answer(record(control.join(room, { identity, name, metadata, attributes, ...permission })));
  } catch (error) {
    if (error instanceof RoomFull) return refusal(409, error.message);
    throw error;
  }
}

function publish(control: EmbeddedControl, room: string, { access, body }: ControlRequest): ControlAnswer {
  if (access.video.canPublish === false) return refusal(403, 'the token does not grant publishing');
  const track = readTrack(body);
  if (track === undefined) {
    return refusal(
      400,
      'the body is {"type": "AUDIO" | "VIDEO", "source": …, "name": …}, each of them optional',
    );
  }
  try {
    return answer(record(control.publish(room, access.identity, track)));
  } catch {
    return refusal(409, 'join first');
  }
}

function readTrack(body: Buffer): SimulatedTrack | undefined {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  return isTrack(value) ? value : undefined;
}

function isTrack(value: unknown): value is SimulatedTrack {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type, source, name, ...rest } = value as Record<string, unknown>;
  return (
    Object.keys(rest).length === 0 &&
    (type === undefined || isNameOf(TrackType, type)) &&
    (source === undefined || isNameOf(TrackSource, source)) &&
    (name === undefined || typeof name === 'string')
  );
}

function isNameOf(names: object, value: unknown): boolean {
  return (
    typeof value === 'string' && /^[A-Z_]+$/.test(value) && Object.hasOwn(names, value) && value !== 'DATA'
  );
}

function record<T extends Message<T>>(message: T): object {
  return message.toJson({ emitDefaultValues: true }) as object;
}

function answer(body: object): ControlAnswer {
  return { status: 200, body: JSON.stringify(body) };
}

function refusal(status: number, error: string): ControlAnswer {
  return { status, body: JSON.stringify({ error }) };
}

import type { Message } from '@bufbuild/protobuf';
import { TrackSource, TrackType } from '@livekit/protocol';
import { type Access, ANONYMOUS } from './access-token.ts';
import type { EmbeddedControl, SimulatedTrack } from './control.ts';
import { RoomFullError } from './rooms.ts';

/*
 * POST /embedded/join, /embedded/publish and /embedded/leave do what a client would do over its WebSocket. The caller
 * needs a LiveKit access token that grants joining a room; room, identity, name, metadata, attributes and permissions
 * come from the token. Responses are JSON: the participant, the track, or {left}; errors are {error}.
 */
export type ControlResponse = { readonly status: number; readonly body: string };

export type ControlRequest = {
  readonly action: string;
  readonly access: Access;
  readonly body: Buffer;
};

export function controlResponse(control: EmbeddedControl, request: ControlRequest): ControlResponse {
  const { access, action } = request;
  const room = access.video.room ?? '';
  if (access === ANONYMOUS || access.video.roomJoin !== true || room === '') {
    return errorResponse(401, 'the request needs a LiveKit access token that grants joining a room');
  }
  if (action === 'join') return join(control, room, access);
  if (action === 'leave') return okResponse({ left: control.leave(room, access.identity) });
  if (action === 'publish') return publish(control, room, request);
  return errorResponse(404, 'there are /embedded/join, /embedded/publish and /embedded/leave');
}

function join(control: EmbeddedControl, room: string, access: Access): ControlResponse {
  const { identity, name, metadata, attributes, video } = access;
  if (identity === '') return errorResponse(400, 'the token names no identity');
  const permission = {
    ...(video.canPublish !== undefined && { canPublish: video.canPublish }),
    ...(video.canSubscribe !== undefined && { canSubscribe: video.canSubscribe }),
    ...(video.canPublishData !== undefined && { canPublishData: video.canPublishData }),
    ...(video.hidden !== undefined && { hidden: video.hidden }),
    ...(video.agent !== undefined && { agent: video.agent }),
  };
  try {
    return okResponse(record(control.join(room, { identity, name, metadata, attributes, ...permission })));
  } catch (error) {
    if (error instanceof RoomFullError) return errorResponse(409, error.message);
    throw error;
  }
}

function publish(control: EmbeddedControl, room: string, { access, body }: ControlRequest): ControlResponse {
  if (access.video.canPublish === false) return errorResponse(403, 'the token does not grant publishing');
  const track = readTrack(body);
  if (track === undefined) {
    return errorResponse(
      400,
      'the body is {"type": "AUDIO" | "VIDEO", "source": …, "name": …}, each of them optional',
    );
  }
  try {
    return okResponse(record(control.publish(room, access.identity, track)));
  } catch {
    return errorResponse(409, 'join first');
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
    (type === undefined || isEnumName(TrackType, type)) &&
    (source === undefined || isEnumName(TrackSource, source)) &&
    (name === undefined || typeof name === 'string')
  );
}

function isEnumName(names: object, value: unknown): boolean {
  return (
    typeof value === 'string' && /^[A-Z_]+$/.test(value) && Object.hasOwn(names, value) && value !== 'DATA'
  );
}

function record<T extends Message<T>>(message: T): object {
  return message.toJson({ emitDefaultValues: true }) as object;
}

function okResponse(body: object): ControlResponse {
  return { status: 200, body: JSON.stringify(body) };
}

function errorResponse(status: number, error: string): ControlResponse {
  return { status, body: JSON.stringify({ error }) };
}

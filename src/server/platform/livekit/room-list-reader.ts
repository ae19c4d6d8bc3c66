import { ListRoomsResponse } from '@livekit/protocol';
import { Room } from 'livekit-server-sdk';

/*
 * Decodes the list of all rooms. Most rooms are the same as in the previous list, byte by byte, and decoding a room with its
 * codecs is expensive. Therefore the reader keeps the bytes of the previous list with its decoded rooms, and decodes only
 * those rooms whose bytes differ. The order of the rooms does not matter, because LiveKit lists them in any order.
 */

/** Lists with more bytes, such as those of rooms with large metadata, are decoded without keeping anything. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A field with the number 1 that has a length: `rooms` of the list, and `sid` of a room. */
const FIRST_FIELD = 0x0a;

/** A decoded room, and where its bytes are in the list. */
type KeptRoom = { readonly room: Room; readonly start: number; readonly end: number };

type KeptList = { readonly bytes: Buffer; readonly rooms: ReadonlyMap<string, KeptRoom> };

const NOTHING: KeptList = { bytes: Buffer.alloc(0), rooms: new Map() };

export class RoomListReader {
  #kept = NOTHING;

  /** Returns the rooms of a ListRoomsResponse. They are shared with later lists, so the caller must not change them. */
  read(response: Uint8Array): Room[] {
    const bytes = Buffer.from(response.buffer, response.byteOffset, response.byteLength);
    const spans = bytes.length <= MAX_KEPT_BYTES ? roomSpans(bytes) : undefined;
    if (spans === undefined) {
      this.#kept = NOTHING;
      return ListRoomsResponse.fromBinary(bytes).rooms;
    }
    const kept = new Map<string, KeptRoom>();
    const rooms = spans.map((span) => {
      const sid = sidOf(bytes, span);
      const room = this.#unchanged(sid, bytes, span) ?? Room.fromBinary(bytes.subarray(span.start, span.end));
      if (sid !== undefined) kept.set(sid, { ...span, room });
      return room;
    });
    this.#kept = { bytes, rooms: kept };
    return rooms;
  }

  #unchanged(sid: string | undefined, bytes: Buffer, { start, end }: Span): Room | undefined {
    const before = sid === undefined ? undefined : this.#kept.rooms.get(sid);
    if (before === undefined) return undefined;
    const isSame = this.#kept.bytes.compare(bytes, start, end, before.start, before.end) === 0;
    return isSame ? before.room : undefined;
  }
}

type Span = { readonly start: number; readonly end: number };

/** Returns where each room is, or undefined if the list contains anything else. */
function roomSpans(bytes: Buffer): readonly Span[] | undefined {
  const spans: Span[] = [];
  let at = 0;
  while (at < bytes.length) {
    const span = spanAt(bytes, at);
    if (span === undefined || span.end > bytes.length) return undefined;
    spans.push(span);
    at = span.end;
  }
  return spans;
}

/** Returns undefined for a room that does not begin with its sid; such a room is always decoded. */
function sidOf(bytes: Buffer, { start, end }: Span): string | undefined {
  const sid = spanAt(bytes, start);
  return sid === undefined || sid.end > end ? undefined : bytes.toString('latin1', sid.start, sid.end);
}

/** Returns where the content of the first field is, if that is the field at this position. Its length has up to four bytes. */
function spanAt(bytes: Buffer, position: number): Span | undefined {
  if (bytes[position] !== FIRST_FIELD) return undefined;
  let length = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = bytes[position + 1 + index];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) {
      const start = position + 2 + index;
      return { start, end: start + length };
    }
  }
  return undefined;
}

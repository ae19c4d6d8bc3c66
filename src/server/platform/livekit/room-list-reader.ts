import { ListRoomsResponse } from '@livekit/protocol';
import { Room as RoomMessage } from 'livekit-server-sdk';
import type { Room } from '../../../contract/rooms.ts';
import { toRoom } from './records.ts';

/*
 * Reads the list of all rooms. Most rooms are the same as in the previous list, byte by byte, and decoding a room with its
 * codecs is expensive. Therefore the reader keeps the bytes of the previous list with its records, and decodes only those
 * rooms whose bytes differ. The order of the rooms does not matter, because LiveKit lists them in any order.
 *
 * The entries are changed in place, and the memory of unchanged rooms is not allocated again for each list. With 10,000
 * rooms, moving so many new objects that stay would stop the whole process for 15 ms at the next garbage collection.
 */

/** Lists with more bytes, such as those of rooms with large metadata, are decoded without keeping anything. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A field with the number 1 that has a length: `rooms` of the list, and `sid` of a room. */
const FIRST_FIELD = 0x0a;

/** A record, and where its bytes are in the list with this number. */
type KeptRoom = { readonly room: Room; start: number; end: number; list: number };

type KeptList = { readonly number: number; readonly bytes: Buffer; readonly rooms: Map<string, KeptRoom> };

export class RoomListReader {
  #kept = nothing();

  /** Returns the rooms of a ListRoomsResponse. They are shared with later lists, so the caller must not change them. */
  read(response: Uint8Array): Room[] {
    const bytes = Buffer.from(response.buffer, response.byteOffset, response.byteLength);
    const previous = this.#kept;
    // A list that fails in the middle leaves entries of two lists.
    this.#kept = nothing();
    const rooms = bytes.length <= MAX_KEPT_BYTES ? readRooms(bytes, previous) : undefined;
    if (rooms === undefined) return ListRoomsResponse.fromBinary(bytes).rooms.map(toRoom);
    const number = previous.number + 1;
    for (const [sid, { list }] of previous.rooms) if (list !== number) previous.rooms.delete(sid);
    this.#kept = { number, bytes, rooms: previous.rooms };
    return rooms;
  }
}

function nothing(): KeptList {
  return { number: 0, bytes: Buffer.alloc(0), rooms: new Map() };
}

/** Returns undefined if the list contains anything but rooms. */
function readRooms(bytes: Buffer, previous: KeptList): Room[] | undefined {
  const rooms: Room[] = [];
  let at = 0;
  while (at < bytes.length) {
    const span = spanAt(bytes, at);
    if (span === undefined || span.end > bytes.length) return undefined;
    rooms.push(readRoom(bytes, span, previous));
    at = span.end;
  }
  return rooms;
}

function readRoom(bytes: Buffer, { start, end }: Span, previous: KeptList): Room {
  const sid = sidOf(bytes, { start, end });
  const kept = sid === undefined ? undefined : previous.rooms.get(sid);
  // After the first of two rooms with the same sid, the entry has the position in this list.
  const isComparable = kept !== undefined && kept.list === previous.number;
  if (isComparable && previous.bytes.compare(bytes, start, end, kept.start, kept.end) === 0) {
    kept.start = start;
    kept.end = end;
    kept.list += 1;
    return kept.room;
  }
  const room = toRoom(RoomMessage.fromBinary(bytes.subarray(start, end)));
  if (sid !== undefined) previous.rooms.set(sid, { room, start, end, list: previous.number + 1 });
  return room;
}

type Span = { readonly start: number; readonly end: number };

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

import { ListRoomsResponse } from '@livekit/protocol';
import { Room as RoomMessage } from 'livekit-server-sdk';
import type { Room } from '../../../contract/rooms.ts';
import { toRoom } from './records.ts';

/*
 * Reads lists of rooms. Most rooms are the same as in the previous list of all rooms, byte by byte, and decoding a room with
 * its codecs is expensive. Therefore the reader keeps the bytes of the last list of all rooms with its records, and decodes
 * only rooms whose bytes differ. The order of the rooms does not matter, because LiveKit lists them in any order.
 *
 * The entries are changed in place, and the memory of unchanged rooms is not allocated again for each list: with 10,000
 * rooms, the garbage collector would stop the process for 15 ms to move so many new objects.
 */

/** Lists with more bytes, such as those of rooms with large metadata, are decoded without keeping anything. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A field with the number 1 that has a length: `rooms` of the list, and `sid` of a room. */
const FIRST_FIELD = 0x0a;

/** A record, and where its bytes are in the list with this number. */
type KeptRoom = { readonly room: Room; start: number; end: number; list: number };

type KeptList = { readonly number: number; readonly bytes: Buffer; readonly rooms: Map<string, KeptRoom> };

export class RoomListReader {
  #kept = emptyList();

  /** Returns the rooms of a list of all rooms. They are shared with later lists, so the caller must not change them. */
  readAll(response: Uint8Array): Room[] {
    const bytes = toBuffer(response);
    const kept = this.#kept;
    // A list that fails in the middle leaves entries of two lists.
    this.#kept = emptyList();
    const keep = (span: Span): Room => keepRoom(kept, bytes, span);
    const rooms = bytes.length <= MAX_KEPT_BYTES ? readRooms(bytes, keep) : undefined;
    if (rooms === undefined) return decode(bytes);
    const number = kept.number + 1;
    for (const [sid, { list }] of kept.rooms) if (list !== number) kept.rooms.delete(sid);
    this.#kept = { number, bytes, rooms: kept.rooms };
    return rooms;
  }

  /** Returns the rooms of a list of some rooms. Those that are as in the last list of all rooms are shared with it. */
  readSome(response: Uint8Array): Room[] {
    const bytes = toBuffer(response);
    const kept = this.#kept;
    const read = (span: Span): Room => {
      const sid = readSid(bytes, span);
      return findSame(kept, { bytes, span, sid })?.room ?? decodeRoom(bytes, span);
    };
    return readRooms(bytes, read) ?? decode(bytes);
  }
}

function emptyList(): KeptList {
  return { number: 0, bytes: Buffer.alloc(0), rooms: new Map() };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function decode(bytes: Buffer): Room[] {
  return ListRoomsResponse.fromBinary(bytes).rooms.map(toRoom);
}

function decodeRoom(bytes: Buffer, { start, end }: Span): Room {
  return toRoom(RoomMessage.fromBinary(bytes.subarray(start, end)));
}

/** Returns undefined if the list contains anything but rooms. */
function readRooms(bytes: Buffer, read: (span: Span) => Room): Room[] | undefined {
  const rooms: Room[] = [];
  let at = 0;
  while (at < bytes.length) {
    const span = spanAt(bytes, at);
    if (span === undefined || span.end > bytes.length) return undefined;
    rooms.push(read(span));
    at = span.end;
  }
  return rooms;
}

/** Returns the room of the next list, and changes its entry. */
function keepRoom(kept: KeptList, bytes: Buffer, span: Span): Room {
  const list = kept.number + 1;
  const sid = readSid(bytes, span);
  const same = findSame(kept, { bytes, span, sid });
  if (same === undefined) {
    const room = decodeRoom(bytes, span);
    if (sid !== undefined) kept.rooms.set(sid, { room, ...span, list });
    return room;
  }
  same.start = span.start;
  same.end = span.end;
  same.list = list;
  return same.room;
}

type Found = { readonly bytes: Buffer; readonly span: Span; readonly sid: string | undefined };

/** Returns the entry of a room whose bytes have not changed. */
function findSame(kept: KeptList, { bytes, span, sid }: Found): KeptRoom | undefined {
  const before = sid === undefined ? undefined : kept.rooms.get(sid);
  // After the first of two rooms with the same sid, the entry has the position in the next list.
  if (before === undefined || before.list !== kept.number) return undefined;
  const isSame = kept.bytes.compare(bytes, span.start, span.end, before.start, before.end) === 0;
  return isSame ? before : undefined;
}

type Span = { readonly start: number; readonly end: number };

/** Returns undefined for a room that does not begin with its sid; such a room is always decoded. */
function readSid(bytes: Buffer, { start, end }: Span): string | undefined {
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

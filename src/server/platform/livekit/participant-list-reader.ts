import { ListParticipantsResponse, ParticipantInfo_Kind } from '@livekit/protocol';
import { ParticipantInfo } from 'livekit-server-sdk';
import type { ParticipantEntry } from './media-server.ts';
import { toParticipant } from './records.ts';

/*
 * Reads lists of participants. Decoding a participant with its tracks and codecs takes some 40 µs, and a page or a count needs
 * few of them. Therefore an entry has only what every list is sorted and filtered by, read from its bytes, and decodes the
 * record when it is asked for it.
 */

/** Returns the entries of a ListParticipantsResponse in protobuf. */
export function readEntries(response: Uint8Array): readonly ParticipantEntry[] {
  const bytes = Buffer.from(response.buffer, response.byteOffset, response.byteLength);
  const entries: ParticipantEntry[] = [];
  for (const { field, start, end } of fieldsOf(bytes, 0, bytes.length)) {
    if (field === PARTICIPANTS && start < end) entries.push(toEntry(bytes, start, end));
  }
  return entries;
}

/** Returns the entries of records that are decoded already. */
export function entriesFrom(participants: readonly ParticipantInfo[]): readonly ParticipantEntry[] {
  return participants.map((message) => ({
    sid: message.sid,
    identity: message.identity,
    isSystem: message.kind === ParticipantInfo_Kind.EGRESS || message.permission?.hidden === true,
    read: () => toParticipant(message),
  }));
}

/** Decodes a list in JSON, which a proxy may have made of it. */
export function entriesFromJson(text: string): readonly ParticipantEntry[] {
  return entriesFrom(
    ListParticipantsResponse.fromJsonString(text, { ignoreUnknownFields: true }).participants,
  );
}

/* Numbers of fields in livekit_models.proto and livekit_room.proto. */
const PARTICIPANTS = 1;
const SID = 1;
const IDENTITY = 2;
const PERMISSION = 11;
const KIND = 14;
const HIDDEN = 7;

function toEntry(bytes: Buffer, from: number, to: number): ParticipantEntry {
  let [sid, identity, isSystem] = ['', '', false];
  for (const { field, start, end, value } of fieldsOf(bytes, from, to)) {
    if (field === SID) sid = bytes.toString('utf8', start, end);
    else if (field === IDENTITY) identity = bytes.toString('utf8', start, end);
    else if (field === KIND) isSystem ||= value === ParticipantInfo_Kind.EGRESS;
    else if (field === PERMISSION) isSystem ||= isHidden(bytes, start, end);
  }
  return {
    ...{ sid, identity, isSystem },
    read: () => toParticipant(ParticipantInfo.fromBinary(bytes.subarray(from, to))),
  };
}

function isHidden(bytes: Buffer, from: number, to: number): boolean {
  for (const { field, value } of fieldsOf(bytes, from, to)) if (field === HIDDEN && value !== 0) return true;
  return false;
}

type Field = {
  readonly field: number;
  /** Of a number: its value, if it is small. */
  readonly value: number;
  /** Of a text or a message: where it is. */
  readonly start: number;
  readonly end: number;
};

/** Yields the fields of a message (https://protobuf.dev/programming-guides/encoding/). Throws for bytes that are none. */
function* fieldsOf(bytes: Buffer, from: number, to: number): Generator<Field, void, undefined> {
  for (let at = from; at < to; ) {
    const tag = readNumber(bytes, at);
    const field = tag.value >>> 3;
    const wireType = tag.value & 7;
    const number = wireType === 0 || wireType === 2 ? readNumber(bytes, tag.end) : { value: 0, end: tag.end };
    const length = FIXED_LENGTHS[wireType] ?? (wireType === 2 ? number.value : undefined);
    if (length === undefined || number.end + length > to)
      throw new Error('the media server sent a broken list');
    at = number.end + length;
    yield { field, value: number.value, start: number.end, end: at };
  }
}

/** Bytes after the number of each wire type whose length is fixed: numbers, 64 bits, 32 bits. */
const FIXED_LENGTHS: Readonly<Partial<Record<number, number>>> = { 0: 0, 1: 8, 5: 4 };

/** Reads a varint; what does not fit into 53 bits is only skipped. */
function readNumber(bytes: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  throw new Error('the media server sent a broken list');
}

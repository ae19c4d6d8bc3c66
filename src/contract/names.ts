import { Type } from 'typebox';

/** LiveKit limits names and identities to 256 bytes of UTF-8, not characters. */
export const MAX_NAME_BYTES = 256;

/** LiveKit's own limit for metadata, in bytes of UTF-8. */
export const MAX_METADATA_BYTES = 512 * 1024;

/** Events and sessions contain the metadata of a room up to this length, and identify longer ones. */
export const MAX_EVENT_METADATA_BYTES = 16 * 1024;

/** The members that tell the metadata of a room in events and sessions. */
export const shownMetadata = {
  metadata: Type.Union([Type.String(), Type.Null()], {
    description:
      'Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256 then identify, or when it is not known',
    examples: ['{"appointment":"A-1042"}'],
  }),
  metadataBytes: Type.Optional(
    Type.Integer({
      description:
        'Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open',
    }),
  ),
  metadataSha256: Type.Optional(
    Type.String({ description: 'SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal' }),
  ),
};

/**
 * A room name, identity or display name: 1 to 256 bytes of UTF-8 without control characters (LiveKit itself accepts NUL and
 * others). The server's validator checks the two formats.
 */
export function nameSchema(description: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: MAX_NAME_BYTES,
    format: 'livekit-name',
    description: `${description}. At most 256 bytes of UTF-8, no control characters.`,
    examples: [example],
  });
}

/** Returns why `text` is no name; undefined when it is one. */
export function nameFault(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (isLongerThan(text, MAX_NAME_BYTES)) return `must be at most ${MAX_NAME_BYTES} bytes of UTF-8`;
  if (/\p{Cc}/u.test(text)) return 'must not contain control characters';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return undefined;
}

/** Returns why `text` cannot be the metadata of a room; undefined when it can. */
export function metadataFault(text: string): string | undefined {
  if (isLongerThan(text, MAX_METADATA_BYTES)) {
    return `must be at most ${MAX_METADATA_BYTES} bytes of UTF-8`;
  }
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return undefined;
}

/** The same for a room. Waiting rooms, which the service itself names, cannot be named by callers. */
export function roomNameSchema(description: string, example: string) {
  return { ...nameSchema(description, example), format: 'livekit-room' };
}

/** Returns why `text` is no name of a room; undefined when it is one. */
export function roomNameFault(text: string): string | undefined {
  if (isWaitingRoom(text)) return `must not begin with ${WAITING_ROOM_PREFIX}, as only waiting rooms do`;
  return nameFault(text);
}

/** ISO 8601 in UTC with milliseconds, such as 2026-01-31T09:30:00.000Z. */
export function instantSchema(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });
}

/**
 * Returns whether the text has more than `maxBytes` bytes of UTF-8. A UTF-16 code unit takes one to three bytes, so that few
 * texts need to be encoded.
 */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}

/* Path parameters that several nouns share. */

/** @param form such as `wh_<id>` */
export function idParameter(form: string, example: string) {
  return Type.String({ minLength: 1, maxLength: 256, description: form, examples: [example] });
}

export const roomIdParameter = roomNameSchema('Room name', 'demo');

/**
 * Prefix of the rooms that `rtc doctor --probe` makes. Webhooks get no events of them, because no receiver should act on
 * them.
 */
export const PROBE_ROOM_PREFIX = 'rtc-doctor-probe-';

export function isProbeRoom(name: string): boolean {
  return name.startsWith(PROBE_ROOM_PREFIX);
}

/**
 * Prefix of the rooms of the media server in which people wait until they are admitted: see rooms/waiting-room.ts in the
 * server. No list, event, session or usage has them.
 */
export const WAITING_ROOM_PREFIX = 'rtc.waiting.';

export function isWaitingRoom(name: string | undefined): boolean {
  return name?.startsWith(WAITING_ROOM_PREFIX) ?? false;
}

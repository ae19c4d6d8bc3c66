import { createHash } from 'node:crypto';

/**
 * Maximum length of a room's name in a path. File systems allow 255 bytes between two slashes, and the template may add to
 * the name: {time} alone has 24 characters.
 */
const LONGEST_NAME = 160;
/** Hexadecimal digits of the digest. 64 bits are enough to distinguish the rooms of one service. */
const DIGEST_LENGTH = 16;

/**
 * Builds the path of a recording from the template: {room} percent-encoded (a room may be called `../x`) and {time} as UTC
 * to the millisecond, which makes it unique per room. A name that consists of dots is encoded too. A name that is too long
 * for a file is replaced by its beginning and a digest of the whole name: a recorder would notice the length only at the end
 * of the recording.
 */
export function recordingPath(template: string, room: string, startedAt: number): string {
  const time = new Date(startedAt).toISOString().replaceAll(':', '-');
  return template.replaceAll('{room}', shorten(encodeName(room), room)).replaceAll('{time}', time);
}

function encodeName(name: string): string {
  const encoded = encodeURIComponent(name);
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

function shorten(encoded: string, name: string): string {
  if (encoded.length <= LONGEST_NAME) return encoded;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  // Removes a percent code that was cut, such as `%E` of `%E6`.
  const beginning = encoded.slice(0, LONGEST_NAME - DIGEST_LENGTH - 1).replace(/%.?$/, '');
  return `${beginning}-${digest}`;
}

import { createHash } from 'node:crypto';

/**
 * The longest name of a room in a path. File systems allow 255 bytes between two slashes, and the template may add to the
 * name: the time alone has 24.
 */
const LONGEST_NAME = 160;
/** 64 bits: enough to keep the rooms of one service apart. */
const DIGEST_LENGTH = 16;

/**
 * The path of a recording: the template with {room} percent-encoded (a room may be called `../x`) and {time} as
 * UTC to the millisecond, which makes it unique per room. A name of dots alone is encoded too. Of a name that would be
 * longer than a file's may be, its beginning and a digest of the whole: a recorder finds out that it is too long only
 * when all has been recorded.
 */
export function recordingPath(template: string, room: string, startedAt: number): string {
  const time = new Date(startedAt).toISOString().replaceAll(':', '-');
  return template.replaceAll('{room}', shortened(encodeName(room), room)).replaceAll('{time}', time);
}

function encodeName(name: string): string {
  const encoded = encodeURIComponent(name);
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

function shortened(encoded: string, name: string): string {
  if (encoded.length <= LONGEST_NAME) return encoded;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  // Removes a percent code that was cut, such as `%E` of `%E6`.
  const beginning = encoded.slice(0, LONGEST_NAME - DIGEST_LENGTH - 1).replace(/%.?$/, '');
  return `${beginning}-${digest}`;
}

/**
 * Where a recording goes: the template with {room} percent-encoded (a room may be called `../x`) and {time} as
 * UTC to the millisecond, which makes it unique per room. A name of dots alone is encoded too.
 */
export function recordingPath(template: string, room: string, startedAt: number): string {
  const time = new Date(startedAt).toISOString().replaceAll(':', '-');
  return template.replaceAll('{room}', encodeName(room)).replaceAll('{time}', time);
}

function encodeName(name: string): string {
  const encoded = encodeURIComponent(name);
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

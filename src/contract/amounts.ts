/* Amounts as people read them, on a terminal and on a page. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats `1 room`, `2 rooms`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/** Formats `90` as `1m 30s`: the two largest units, so that it fits a column. */
export function formatDuration(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [unit, size] of [
    ['d', DAY],
    ['h', HOUR],
    ['m', MINUTE],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ') || '0s';
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** Formats `7 bytes`, `7.3 MB`: decimal units, like those of disks and networks. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  let size = bytes;
  let unit = -1;
  // A number that is rounded to 1000 would be shown as 1000 of the smaller unit.
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${UNITS[unit] ?? 'kB'}`;
}

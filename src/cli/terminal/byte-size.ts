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

/**
 * Returns the original path of an audited request, `/v1/rooms/demo`. Ids that are not part of it follow it, such as the id of
 * a created object.
 */
export function pathWithIds(path: string, ids: Readonly<Record<string, string>>): string {
  const inPath = new Set<string>();
  const whole = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    inPath.add(name);
    return encodeURIComponent(ids[name] ?? '');
  });
  const made = Object.entries(ids).filter(([name]) => !inPath.has(name));
  return [whole, ...made.map(([name, id]) => `${name}=${encodeURIComponent(id)}`)].join(' ');
}

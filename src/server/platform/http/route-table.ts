import type { Route } from './route.ts';

/** Returns the methods of a path, for 405 and its Allow header. */
export function allowedMethods(routes: readonly Route[], path: string): readonly string[] {
  const parts = path.split('/');
  const matching = routes.filter((route) => isMatch(route.path.split('/'), parts));
  const methods: string[] = matching.map((route) => route.method);
  if (matching.some((route) => route.errorFormat?.isOpenToBrowsers)) methods.push('OPTIONS');
  const withHead = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return [...new Set(withHead)].sort();
}

function isMatch(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]));
}

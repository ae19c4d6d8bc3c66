import type { ProfileStore } from '../../connection/profiles.ts';

const FIRST = 'dev';

/**
 * The profile of the `rtc dev` that keeps its data in this folder: the one that it had before, or else `dev` where no
 * other folder has it, or else one that is named after the project, such as `dev-shop`.
 */
export function devProfileName(
  { profiles }: ProfileStore,
  folder: { readonly dataDir: string; readonly project: string },
): string {
  const own = Object.entries(profiles).find(([, { devDataDir }]) => devDataDir === folder.dataDir);
  if (own !== undefined) return own[0];
  if (isFree(profiles, FIRST)) return FIRST;
  const project = folder.project.replace(/[^\w.-]+/g, '-').slice(0, 48);
  const name = `${FIRST}-${project === '' ? 'project' : project}`;
  let free = name;
  for (let count = 2; !isFree(profiles, free); count += 1) free = `${name}-${count}`;
  return free;
}

/** A profile `dev` of an earlier version names no folder; it was for whichever came last. */
function isFree(profiles: ProfileStore['profiles'], name: string): boolean {
  return !Object.hasOwn(profiles, name) || (name === FIRST && profiles[name]?.devDataDir === undefined);
}

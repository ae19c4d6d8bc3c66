import type { Io } from '../terminal/io.ts';
import type { Candidate } from './lists/listed.ts';

/** Lists the profiles of this machine, with their addresses. */
export async function profileCandidates(io: Io): Promise<readonly Candidate[]> {
  const { readProfiles } = await import('../connection/profiles.ts');
  const { profiles } = await readProfiles(io);
  return Object.entries(profiles).map(([value, { url }]) => ({ value, description: url }));
}

import { RtcClient } from '../../../client/client.ts';
import { createWire } from '../../connection/connect.ts';
import { readCredentials, resolveSettings } from '../../connection/settings.ts';
import type { Io } from '../../terminal/io.ts';
import { type Candidate, listCandidates } from '../lists/listed.ts';
import type { Picked } from '../parameters.ts';
import { profileCandidates } from '../profile-candidates.ts';

/** A completion that makes one wait is worse than none. */
const TIMEOUT_MS = 1000;

/** The words so far, and what the first argument among them says. */
export type GivenWords = { readonly words: readonly string[]; readonly owner: string };

/** Names to complete with, from the profiles or from the service that the words so far choose. */
export async function findNames(
  kind: Picked,
  { words: given, owner }: GivenWords,
  io: Io,
): Promise<readonly Candidate[]> {
  if (kind === 'profiles') return await profileCandidates(io);
  const settings = await resolveSettings(io, {
    url: optionValue(given, '--url'),
    apiKey: optionValue(given, '--api-key'),
    profile: optionValue(given, '--profile'),
    apiSecretFile: undefined,
  });
  // A secret command may ask for a passphrase, and that in the middle of a line being typed.
  if (settings.apiSecret?.source.endsWith('(command)') === true) return [];
  const credentials = await readCredentials(settings);
  const target = { url: settings.url.value, ...credentials };
  const client = new RtcClient({
    ...target,
    ...createWire(target, {}),
    clock: io.clock,
    timeoutMs: TIMEOUT_MS,
    maxAttempts: 1,
  });
  try {
    return await listCandidates(kind, { client, signal: io.signal, nowMs: io.clock(), owner });
  } finally {
    await client.close();
  }
}

function optionValue(given: readonly string[], name: string): string | undefined {
  const at = given.indexOf(name);
  if (at !== -1) return given[at + 1];
  return given.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

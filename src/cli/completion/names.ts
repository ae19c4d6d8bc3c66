import { RtcClient } from '../../client/client.ts';
import type { Io } from '../io.ts';
import type { Completes } from '../parameters.ts';
import { readProfiles } from '../profiles.ts';
import { readCredentials, resolveSettings } from '../settings.ts';

/** A completion that makes one wait is worse than none. */
const TIMEOUT_MS = 1000;

/** Names to complete with, from the profiles or from the service that the words so far choose. */
export async function findNames(
  kind: Completes,
  given: readonly string[],
  io: Io,
): Promise<readonly string[]> {
  if (kind === 'profiles') return Object.keys((await readProfiles(io)).profiles);
  const settings = await resolveSettings(io, {
    url: optionValue(given, '--url'),
    apiKey: optionValue(given, '--api-key'),
    profile: optionValue(given, '--profile'),
    apiSecretFile: undefined,
  });
  // A secret command may ask for a passphrase, and that in the middle of a line being typed.
  if (settings.apiSecret?.source.endsWith('(command)') === true) return [];
  const credentials = await readCredentials(settings);
  const client = new RtcClient({
    url: settings.url.value,
    ...credentials,
    clock: io.clock,
    timeoutMs: TIMEOUT_MS,
    maxAttempts: 1,
  });
  try {
    const { rooms } = await client.listRooms({ signal: io.signal });
    return rooms.map((room) => room.name);
  } finally {
    await client.close();
  }
}

function optionValue(given: readonly string[], name: string): string | undefined {
  const at = given.indexOf(name);
  if (at !== -1) return given[at + 1];
  return given.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

import { RtcClient } from '../../../client/client.ts';
import { createWire } from '../../connection/connect.ts';
import { readProfiles } from '../../connection/profiles.ts';
import { readCredentials, resolveSettings } from '../../connection/settings.ts';
import type { Io } from '../../terminal/io.ts';
import type { Completes } from '../parameters.ts';

/** A completion that makes one wait is worse than none. */
const TIMEOUT_MS = 1000;

/** A word that may stand under the cursor. */
export type Candidate = { readonly value: string; readonly description: string };

/** Names to complete with, from the profiles or from the service that the words so far choose. */
export async function findNames(
  kind: Exclude<Completes, 'events' | 'files'>,
  given: readonly string[],
  io: Io,
): Promise<readonly Candidate[]> {
  if (kind === 'profiles') {
    const { profiles } = await readProfiles(io);
    return Object.entries(profiles).map(([value, { url }]) => ({ value, description: url }));
  }
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
    return kind === 'rooms' ? await roomNames(client, io) : await webhookIds(client, io);
  } finally {
    await client.close();
  }
}

async function roomNames(client: RtcClient, { signal }: Io): Promise<readonly Candidate[]> {
  const { rooms } = await client.rooms.list({ signal });
  return rooms.map(({ name }) => ({ value: name, description: '' }));
}

async function webhookIds(client: RtcClient, { signal }: Io): Promise<readonly Candidate[]> {
  const { webhooks } = await client.webhooks.list({ signal });
  return webhooks.map(({ id, url }) => ({ value: id, description: url }));
}

function optionValue(given: readonly string[], name: string): string | undefined {
  const at = given.indexOf(name);
  if (at !== -1) return given[at + 1];
  return given.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

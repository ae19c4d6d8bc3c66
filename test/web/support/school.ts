import { expect } from 'vitest';
import { RtcClient } from '../../../src/client/client.ts';
import type { Key } from '../../../src/contract/keys.ts';
import { run } from '../../cli/support/run.ts';
import { type Receiver, startReceiver } from '../../server/webhooks/support/receiver.ts';
import { type Caller, createCaller } from '../../support/http-call.ts';
import { commandEnvironment, type Dev } from './dev.ts';

/* A school is a key for rooms that begin so, with one webhook and an engineer who runs commands. */

export const ROOM = 'lesson-7';

type Operation = { readonly operationId: string; readonly security?: readonly object[] };
type Paths = Readonly<Record<string, { readonly get?: Operation }>>;

/** What a request for a list needs, or what finds more. */
const QUERIES: Readonly<Record<string, string>> = { getUsage: '?by=room', searchTranscripts: '?q=fail' };
/** What is left of the lesson where somebody can read of it. */
const TRACES = /lesson|rossi|ben\b/i;

export type School = Awaited<ReturnType<typeof openSchool>>;

/** Makes a key for the rooms of a school, and one webhook. */
export async function openSchool({ credentials }: Dev, prefix: string) {
  const root = new RtcClient(credentials);
  const key: Key = await root.keys.create({ name: prefix, scopes: ['admin'], rooms: [prefix] });
  await root.close();
  const connection = { url: credentials.url, apiKey: key.id, apiSecret: key.secret ?? '' };
  const client = new RtcClient(connection);
  const signing = () => ({ ...connection, timestamp: Math.floor(Date.now() / 1000) });
  const caller: Caller = await createCaller(connection.url, signing);
  const receiver: Receiver = await startReceiver();
  await client.webhooks.create({ url: receiver.url, ordering: 'room' });
  const environment = commandEnvironment({ credentials: connection });
  return {
    client,
    connection,
    caller,
    receiver,
    environment,
    /** Runs a command of the school's engineer. */
    rtc: async (argv: readonly string[], stdin = ''): Promise<string> => {
      const { code, stdout, stderr } = await run(argv, { env: environment, stdin });
      expect([argv, code], stderr).toEqual([argv, 0]);
      return stdout;
    },
    close: async () => {
      caller.close();
      await client.close();
      await receiver.close();
    },
  };
}

/**
 * Asks for everything that can be read, with the key of another school and the ids of this one. Resolves to the lists in which
 * this school itself finds its lesson.
 */
export async function expectNothing(stranger: School, school: School): Promise<readonly string[]> {
  const ids = await listIds(school);
  const found: string[] = [];
  for (const [template, { get }] of Object.entries(stranger.caller.document.paths as Paths)) {
    if (get === undefined || (get.security ?? []).length === 0) continue;
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(ids[name] ?? 'none'),
    );
    const asked = `${path}${QUERIES[get.operationId] ?? ''}`;
    const strange = await stranger.caller.call('GET', asked);
    if (template.includes('{')) {
      expect([403, 404], `${template}: ${strange.text}`).toContain(strange.status);
      continue;
    }
    expect(strange.text, template).not.toMatch(TRACES);
    const own = await school.caller.call('GET', asked);
    if (own.status === 200 && TRACES.test(own.text)) found.push(get.operationId);
  }
  expect(stranger.receiver.received).toEqual([]);
  return found;
}

/** The ids of what the school has. */
async function listIds({ client }: School): Promise<Readonly<Record<string, string | undefined>>> {
  const [webhook] = (await client.webhooks.list()).webhooks;
  return {
    ...{ roomId: ROOM, planId: 'lessons', participantId: 'ben', webhookId: webhook?.id },
    recordingId: (await client.recordings.list()).recordings[0]?.recordingId,
    broadcastId: (await client.broadcasts.list()).broadcasts[0]?.broadcastId,
    transcriptionId: (await client.transcriptions.list()).transcriptions[0]?.transcriptionId,
    sessionId: (await client.sessions.list()).sessions[0]?.sessionId,
    deliveryId: (await client.deliveries.list(webhook?.id ?? '')).deliveries[0]?.id,
  };
}

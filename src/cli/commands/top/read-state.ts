import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Segment } from '../../../contract/transcription.ts';
import { type RoomFacts, sortDeliveries, type TopDelivery } from './state.ts';

/** Kinds that count as people, without agents and recorders. */
const PEOPLE: readonly string[] = ['STANDARD', 'SIP', 'INGRESS'];
const CAPTION_WINDOW_MS = 60_000;
/** A participant who spoke this recently counts as speaking. */
const SPEAKING_MS = 3_000;
const DELIVERIES = 20;
const MOST_WEBHOOKS = 20;

export type Reading = { readonly client: RtcClient; readonly signal: AbortSignal; readonly nowMs: number };

/** Returns undefined when the room is closed. */
export async function readRoomFacts(
  { client, signal, nowMs }: Reading,
  name: string,
): Promise<RoomFacts | undefined> {
  try {
    const [room, { isRecording }, { participants }, segments] = await Promise.all([
      client.rooms.get(name, { signal }),
      client.recordings.status(name, { signal }),
      client.participants.list(name, { signal }),
      readSegments({ client, signal, nowMs }, name),
    ]);
    const last = segments?.at(-1);
    return {
      room,
      isRecording,
      people: participants.filter(({ kind }) => PEOPLE.includes(kind)),
      isTranscribed: segments !== undefined,
      caption:
        last === undefined
          ? undefined
          : {
              speaker: last.speaker ?? last.participantIdentity ?? '',
              identity: last.participantIdentity,
              text: last.text,
            },
      speaking: speakersOf(segments ?? [], nowMs),
    };
  } catch (error) {
    if (error instanceof RtcError && error.code === 'room-not-found') return undefined;
    throw error;
  }
}

/** A participant with an interim result is speaking: it becomes final at the first pause. */
function speakersOf(segments: readonly Segment[], nowMs: number): ReadonlySet<string> {
  const spoken = segments.filter(({ final, endedAt }) => !final || nowMs - Date.parse(endedAt) < SPEAKING_MS);
  return new Set(spoken.flatMap(({ participantIdentity }) => participantIdentity ?? []));
}

/** Reads the latest words, with their times; undefined without a running transcription. */
async function readSegments(
  { client, signal, nowMs }: Reading,
  name: string,
): Promise<readonly Segment[] | undefined> {
  try {
    const since = new Date(nowMs - CAPTION_WINDOW_MS).toISOString();
    const { status, segments } = await client.transcription.get(name, { since, signal });
    if (status !== 'active') return undefined;
    return segments.toSorted((one, other) => one.endedAt.localeCompare(other.endedAt));
  } catch (error) {
    // Most rooms have no transcription, and a service without the add-on returns an error.
    if (error instanceof RtcError && ABSENT.includes(error.code)) return undefined;
    throw error;
  }
}

const ABSENT: readonly string[] = ['transcription-not-found', 'addon-unavailable', 'room-not-found'];

/** Reads the newest deliveries of each webhook, and the newest failed ones. */
export async function readDeliveries({ client, signal }: Reading): Promise<readonly TopDelivery[]> {
  const { webhooks } = await client.webhooks.list({ signal, limit: MOST_WEBHOOKS });
  const lists = await Promise.all(
    webhooks.map(async ({ id, url }) => {
      const failed = await client.deliveries.list(id, { signal, status: 'failed', limit: DELIVERIES });
      const newest = await client.deliveries.list(id, { signal, limit: DELIVERIES });
      const known = new Set(failed.deliveries.map((delivery) => delivery.id));
      const others = newest.deliveries.filter((delivery) => !known.has(delivery.id));
      return [...failed.deliveries, ...others].map((delivery) => ({ delivery, url }));
    }),
  );
  return sortDeliveries(lists.flat());
}

import type { RtcClient } from '../../../client/client.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { formatRelative } from '../../terminal/time.ts';
import type { Listed } from '../parameters.ts';

/** A possible value of an argument: the text to type, and its description. */
export type Candidate = { readonly value: string; readonly description: string };

export type ListRequest = {
  readonly client: RtcClient;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** The value of the first argument: the room of a participant, the webhook of a delivery. */
  readonly owner: string;
};

/** Maximum candidates: the first page has the newest, which users usually look for. */
const MOST = 200;

/** Rooms come by name, so that a smaller page would have no name of the end of the alphabet. */
const MOST_ROOMS = 1_000;

const LISTS: Readonly<Record<Listed, (request: ListRequest) => Promise<readonly Candidate[]>>> = {
  rooms: async ({ client, signal }) => {
    const { rooms } = await client.rooms.list({ signal, limit: MOST_ROOMS });
    return rooms.map(({ name }) => ({ value: name, description: '' }));
  },
  participants: async ({ client, signal, owner }) => {
    const { participants } = await client.participants.list(owner, { signal, limit: MOST });
    return participants.map(({ identity, name }) => ({
      value: identity,
      description: name === identity ? '' : name,
    }));
  },
  blocks: async ({ client, signal, owner }) => {
    const { blocks } = await client.blocks.list(owner, { signal, limit: MOST });
    return blocks.map(({ identity, blockedUntil }) => ({
      value: identity,
      description: blockedUntil === null ? 'for ever' : `until ${blockedUntil}`,
    }));
  },
  waiting: async ({ client, signal, owner }) => {
    const { waiting } = await client.waiting.list(owner, { signal });
    return waiting.map(({ identity, name }) => ({
      value: identity,
      description: name === identity ? '' : name,
    }));
  },
  plans: async ({ client, signal }) => {
    const { plans } = await client.plans.list({ signal, limit: MOST });
    return plans.map(({ planId, room, prefix }) => ({ value: planId, description: room ?? `${prefix}*` }));
  },
  ingress: async ({ client, signal, owner }) => {
    const { ingress } = await client.ingress.list(owner, { signal, limit: MOST });
    return ingress.map(({ ingressId, name }) => ({ value: ingressId, description: name }));
  },
  recordings: async ({ client, signal, nowMs }) => {
    const { recordings } = await client.recordings.list({ signal, limit: MOST });
    return recordings.map(({ recordingId, roomId, status, startedAt }) => ({
      value: recordingId,
      description: [roomId, status, ...(startedAt === null ? [] : [relative(startedAt, nowMs)])].join(', '),
    }));
  },
  transcriptions: async ({ client, signal }) => {
    const { transcriptions } = await client.transcriptions.list({ signal, limit: MOST });
    return transcriptions.map(({ transcriptionId, roomId, recordingId, status }) => ({
      value: transcriptionId,
      description: `${roomId}, ${status}, of ${recordingId}`,
    }));
  },
  sessions: async ({ client, signal, nowMs }) => {
    const { sessions } = await client.sessions.list({ signal, limit: MOST });
    return sessions.map(({ sessionId, roomId, status, createdAt }) => ({
      value: sessionId,
      description: `${roomId}, ${status}, ${relative(createdAt, nowMs)}`,
    }));
  },
  webhooks: async ({ client, signal }) => {
    const { webhooks } = await client.webhooks.list({ signal, limit: MOST });
    return webhooks.map(({ id, url }) => ({ value: id, description: url }));
  },
  deliveries: async ({ client, signal, nowMs, owner }) => {
    const { deliveries } = await client.deliveries.list(owner, { signal, limit: MOST });
    return deliveries.map(({ id, event, status, createdAt }) => ({
      value: id,
      description: `${event}, ${status}, ${relative(createdAt, nowMs)}`,
    }));
  },
  keys: async ({ client, signal }) => {
    const { keys } = await client.keys.list({ signal, limit: MOST });
    return keys.map(({ id, name, status }) => ({ value: id, description: `${name}, ${status}` }));
  },
};

function relative(instant: string, nowMs: number): string {
  return formatRelative(Date.parse(instant), nowMs);
}

/** Lists what the service has of a kind, in the service's order. */
export async function listCandidates(kind: Listed, request: ListRequest): Promise<readonly Candidate[]> {
  return await LISTS[kind](request);
}

const NONE: Readonly<Record<Listed | 'profiles', readonly [message: string, next: string]>> = {
  rooms: ['no room is open', 'create one: rtc rooms create demo'],
  participants: ['nobody is in the room', 'let somebody in: rtc tokens create'],
  blocks: [
    'nobody is blocked in the room',
    'there is nothing to remove; to block somebody: rtc participants remove --block 1h',
  ],
  waiting: ['nobody waits for the room', 'see who is in it: rtc participants list'],
  plans: ['there is no plan', 'make one: rtc plans set'],
  ingress: ['the room has no ingress', 'create one: rtc ingress create'],
  recordings: ['there is no recording', 'start one: rtc recordings start'],
  transcriptions: ['there is no transcription of a recording', 'create one: rtc transcriptions create'],
  sessions: ['there is no session of a room', 'open a room: rtc rooms create'],
  webhooks: ['there is no webhook', 'register one: rtc webhooks create'],
  deliveries: ['the webhook has no deliveries', 'send one: rtc webhooks test'],
  keys: ['there is only the root key', 'make another one: rtc keys create'],
  profiles: ['there is no profile', 'add one: rtc profile add'],
};

/** The error without any candidate. */
export function noCandidate(kind: Listed | 'profiles'): CliError {
  const [message, next] = NONE[kind];
  return new CliError(EXIT.notFound, message, next);
}

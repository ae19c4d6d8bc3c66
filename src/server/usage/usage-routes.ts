import type { UsageGroup } from '../../contract/choices.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import {
  MAX_USAGE_DAYS,
  type Usage,
  type UsageFigures,
  type UsageLine,
  UsageQuery,
  UsageSchema,
} from '../../contract/usage.ts';
import { csvRow, withoutFormula } from '../../people/csv-rows.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorCodec, type OfRooms, readPage } from '../platform/http/read-page.ts';
import { refusedParameter } from '../platform/http/refusals.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import type { UsageSettler } from './settle-usage.ts';
import { DAY_MS, startOfDay } from './spans.ts';
import type { UsageStores, UsageSums } from './store.ts';

export type UsageDeps = {
  readonly store: UsageStores;
  readonly clock: Pick<Clock, 'now'>;
  readonly usageSettler: Pick<UsageSettler, 'refresh'>;
};

const CSV_TYPE = 'text/csv';
const NEXT_CURSOR = 'x-next-cursor';
const DEFAULT_LIMIT = 400;

export function usageRoutes(deps: UsageDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/usage',
      operationId: 'getUsage',
      tag: 'usage',
      summary: 'Add up minutes and bytes by day, month, room, prefix or key',
      description:
        'Adds up exact times by days in UTC. Rooms that are open count until `asOf`; recordings, transcriptions and broadcasts count when they have ended. Usage is kept for USAGE_RETENTION, also when sessions, recordings and people are deleted.',
      scopes: ['read'],
      ofRooms: 'filtered',
      query: UsageQuery,
      success: {
        200: {
          description: 'The usage of each group, and of all together',
          schema: UsageSchema,
          examplesByType: { [CSV_TYPE]: toCsv('day', [EXAMPLE]) },
          headers: { [NEXT_CURSOR]: 'Of CSV: the cursor of the next page, if there is one' },
        },
      },
      errors: ['storage-unavailable'],
      handle: async ({ query, raw, caller }) => {
        const usage = await readUsage(deps, { ...query, rooms: caller?.rooms });
        const isCsv = query.format === undefined ? prefersCsv(raw.headers.accept) : query.format === 'csv';
        return isCsv ? csvResponse(usage) : { status: 200, body: usage };
      },
    }),
  ];
}

/** Returns whether the header asks for CSV, and not for JSON before it. */
function prefersCsv(accept = ''): boolean {
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim());
  return types.find((type) => type === CSV_TYPE || type === 'application/json') === CSV_TYPE;
}

const CURSORS = cursorCodec('usage', 'string', 'string');

/** Reads a page of usage. Throws invalid-request for days that are no range, or a longer one than is allowed. */
async function readUsage(
  { store, clock, usageSettler }: UsageDeps,
  { by = 'day', roomId: room, prefix, rooms, cursor, limit = DEFAULT_LIMIT, ...asked }: OfRooms<UsageQuery>,
): Promise<Usage> {
  const now = clock.now();
  const { from, to } = readRange(asked, now);
  const asOf = await usageSettler.refresh();
  const range = { from, to, room, prefix, rooms };
  const { rows, nextCursor } = await readPage(
    CURSORS,
    { cursor, limit },
    {
      read: ({ after, limit: wanted }) => {
        if (after !== undefined && after[0] !== by)
          throw refusedParameter('cursor', 'must be a nextCursor of the same `by`');
        return store.usage.list({ ...range, by, after: after?.[1], limit: wanted });
      },
      locate: ({ group }) => [by, group] as const,
    },
  );
  // The total of all groups takes as long to read as the groups.
  const isWhole = cursor === undefined && nextCursor === null;
  const [total] = isWhole ? addUp(rows) : await store.usage.list({ ...range, by: 'total', limit: 1 });
  return {
    from: formatDay(from),
    to: formatDay(to),
    by,
    asOf: new Date(asOf).toISOString(),
    total: toFigures(total ?? {}, now),
    usage: rows.map((sums) => ({ group: sums.group, ...toFigures(sums, now) })),
    nextCursor,
  };
}

/** Returns the participant minutes of the month of `now`, in UTC, in rooms that begin so. */
export async function countMonth(
  usage: Pick<UsageStores['usage'], 'list'>,
  { rooms, now }: { readonly rooms: RoomPrefixes; readonly now: number },
): Promise<number> {
  const [total] = await usage.list({ ...readRange({}, now), rooms, by: 'total', limit: 1 });
  return (total?.participant ?? 0) / 60_000;
}

function readRange({ from, to }: Pick<UsageQuery, 'from' | 'to'>, now: number) {
  const today = startOfDay(now);
  const month = new Date(today);
  const range = {
    from: from === undefined ? month.setUTCDate(1) : Date.parse(from),
    to: to === undefined ? today + DAY_MS : Date.parse(to),
  };
  if (range.from >= range.to) throw refusedParameter('to', 'must be after `from`');
  if (range.to - range.from > MAX_USAGE_DAYS * DAY_MS)
    throw refusedParameter('from', `must be at most ${MAX_USAGE_DAYS} days before \`to\``);
  return range;
}

/** Returns the total of the groups, as the store does: none without groups. */
function addUp([first, ...others]: readonly UsageSums[]): readonly UsageSums[] {
  if (first === undefined) return [];
  const total = others.reduce(
    (sums, group) => ({
      group: '',
      participant: sums.participant + group.participant,
      host: sums.host + group.host,
      moderator: sums.moderator + group.moderator,
      participantRole: sums.participantRole + group.participantRole,
      viewer: sums.viewer + group.viewer,
      room: sums.room + group.room,
      recording: sums.recording + group.recording,
      transcription: sums.transcription + group.transcription,
      broadcast: sums.broadcast + group.broadcast,
      ingress: sums.ingress + group.ingress,
      peak: Math.max(sums.peak, group.peak),
      bytes: sums.bytes + group.bytes,
      lastDay: Math.max(sums.lastDay, group.lastDay),
      isFinal: Math.min(sums.isFinal, group.isFinal),
    }),
    first,
  );
  return [total];
}

function toFigures(sums: Partial<UsageSums>, now: number): UsageFigures {
  const { participant = 0, host = 0, moderator = 0, participantRole = 0, viewer = 0 } = sums;
  const { lastDay = 0, isFinal = 1 } = sums;
  return {
    participantMinutes: toMinutes(participant),
    participantMinutesByRole: {
      host: toMinutes(host),
      moderator: toMinutes(moderator),
      participant: toMinutes(participantRole),
      viewer: toMinutes(viewer),
      other: toMinutes(participant - host - moderator - participantRole - viewer),
    },
    roomMinutes: toMinutes(sums.room),
    recordedMinutes: toMinutes(sums.recording),
    transcribedMinutes: toMinutes(sums.transcription),
    broadcastMinutes: toMinutes(sums.broadcast),
    ingressMinutes: toMinutes(sums.ingress),
    peakParticipants: sums.peak ?? 0,
    recordingBytes: sums.bytes ?? 0,
    isFinal: isFinal === 1 && lastDay < startOfDay(now),
  };
}

function toMinutes(ms = 0): number {
  return Math.round(ms / 600) / 100;
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const EXAMPLE: UsageLine = {
  group: '2026-11-01',
  participantMinutes: 61.5,
  participantMinutesByRole: { host: 31.5, moderator: 0, participant: 30, viewer: 0, other: 0 },
  roomMinutes: 31.5,
  recordedMinutes: 28.25,
  transcribedMinutes: 28.25,
  broadcastMinutes: 0,
  ingressMinutes: 0,
  peakParticipants: 2,
  recordingBytes: 48_211_034,
  isFinal: true,
};

function csvResponse({ by, usage, nextCursor }: Usage): RouteResponse {
  const headers = {
    'content-type': `${CSV_TYPE}; charset=utf-8`,
    ...(nextCursor === null ? {} : { [NEXT_CURSOR]: nextCursor }),
  };
  return { status: 200, body: toCsv(by, usage), headers };
}

function toCsv(by: UsageGroup, lines: readonly UsageLine[]): string {
  const header = [by, ...Object.keys(toCells(EXAMPLE))];
  const rows = lines.map((line) => [withoutFormula(line.group), ...Object.values(toCells(line))]);
  return [header, ...rows].map((cells) => `${csvRow(cells, ',')}\r\n`).join('');
}

function toCells({ participantMinutesByRole: roles, ...line }: UsageLine) {
  return {
    participant_minutes: line.participantMinutes,
    ...Object.fromEntries(Object.entries(roles).map(([role, minutes]) => [`${role}_role_minutes`, minutes])),
    room_minutes: line.roomMinutes,
    recorded_minutes: line.recordedMinutes,
    transcribed_minutes: line.transcribedMinutes,
    broadcast_minutes: line.broadcastMinutes,
    ingress_minutes: line.ingressMinutes,
    largest_room: line.peakParticipants,
    recording_bytes: line.recordingBytes,
    is_final: line.isFinal,
  };
}

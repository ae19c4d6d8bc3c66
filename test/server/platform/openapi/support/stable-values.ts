import { createHash } from 'node:crypto';

/*
 * Replaces the varying values of an exchange, so that each run records the same. Ids keep their form and length, and equal
 * ids remain equal. Instants are within one afternoon.
 */

const STABLE_TEXTS: readonly (readonly [pattern: RegExp, text: string])[] = [
  [
    /eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
    'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6eyJyb29tIjoiZGVtbyJ9fQ.Kx2mW4hT9qYb7cVn3LsR8g',
  ],
  [/whsec_[\w+/=]+/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
  [/rtcsk_[\w-]+/g, 'rtcsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo'],
  [/urn:uuid:[\w-]+/g, 'urn:uuid:6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51'],
  [
    /http:\/\/127\.0\.0\.1:\d+(\/recordings\/[\w-]+\/file)\?[^"]+/g,
    'https://rtc.example.org$1?expires=1769938263&signature=pB0wHlGq2Zc',
  ],
  [/https?:\/\/127\.0\.0\.1:\d+\/whip\S*?(?=")/g, 'https://media.example.org/whip'],
  [/http:\/\/127\.0\.0\.1:\d+/g, 'https://example.org/hooks/rtc'],
  [/ws:\/\/127\.0\.0\.1:\d+/g, 'wss://media.example.org'],
  [/rtmp:\/\/127\.0\.0\.1:\d+/g, 'rtmp://media.example.org:1935'],
  [/"[^"]*\/rtc-recordings-[^"/]+\//g, '"/recordings/'],
  [/demo\/\d{4}-[^"/]+\.mp4/g, 'demo/2026-01-31T09-30-00.000Z.mp4'],
  [/is \d+ s behind/g, 'is 512 s behind'],
  [/until \d{4}-[\dT:.-]+Z/g, 'until 2026-01-31T10:31:14.000Z'],
  [/has \d+ bytes/g, 'has 7340032 bytes'],
];

const BEGIN_MS = Date.parse('2026-01-31T09:30:00.000Z');

/** Milliseconds after the beginning of the afternoon, by field name. */
const INSTANTS: Readonly<Record<string, number>> = {
  createdAt: 0,
  since: 0,
  until: 86_400_000,
  joinedAt: 4_120,
  leftAt: 63_020,
  timestamp: 4_180,
  startedAt: 10_000,
  mediaStartedAt: 12_600,
  waitingSince: 9_000,
  stoppedAt: 71_500,
  endedAt: 73_100,
  occurredAt: 73_500,
  revokedAt: 73_600,
  lastUsedAt: 60_000,
  blockedAt: 74_000,
  closedAt: 80_000,
  closesAt: 80_000,
  updatedAt: 81_000,
  blockedUntil: 3_674_000,
  queuedAt: 80_000,
  completedAt: 96_400,
  nextAttemptAt: 9_180,
  expiresAt: 3_600_000,
};

const VALUES: Readonly<Record<string, unknown>> = {
  creationTime: '1769851800',
  creationTimeMs: '1769851800000',
  serverTime: 1_769_851_800,
  durationMs: 58_900,
  participantMinutes: 0.98,
  sizeBytes: 7_340_032,
  nextCursor: 'eyJ2IjoxLCJhZnRlciI6NDJ9',
  start: 1.5,
  end: 2.75,
  streamKey: 'aYqVPUuvNqVa7sWf',
  version: '0.1.0',
  requestId: '6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
};

/** A delivery attempt is short, unlike a recording. */
const ATTEMPT_MS = 85;

export function stabilize<T>(value: T): T {
  const texts = STABLE_TEXTS.reduce(
    (text, [pattern, stable]) => text.replaceAll(pattern, stable),
    JSON.stringify(value),
  );
  return JSON.parse(withStableIds(texts), stableValue) as T;
}

function withStableIds(text: string): string {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  return text.replaceAll(
    /\b(RM|PA|TR|EG|IN|rec|wh|dlv|evt|tr|seg|key|aud)_([\w-]+)/g,
    (id, kind: string, rest: string) => {
      const found = known.get(id);
      if (found !== undefined) return found;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const stable = `${kind}_${lookalike(`${kind} ${count}`, rest.length)}`;
      known.set(id, stable);
      return stable;
    },
  );
}

function lookalike(seed: string, length: number): string {
  return createHash('sha256').update(seed).digest('base64').replaceAll(/[+/=]/g, '').slice(0, length);
}

function stableValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (name === 'enabledCodecs' && Array.isArray(value)) return value.slice(0, 2);
  // Of the parts of the statistics, the last one has the deliveries.
  if (name === 'periods' && Array.isArray(value)) return value.slice(-1);
  if (name === 'durationMs' && 'number' in this) return ATTEMPT_MS;
  if (name === 'joinedAt' && /^\d+$/.test(String(value))) return '1769851804';
  if (name === 'joinedAtMs') return '1769851804120';
  if (typeof value === 'string' && INSTANTS[name] !== undefined && /^\d{4}-\d\d-\d\dT/.test(value))
    return new Date(BEGIN_MS + INSTANTS[name]).toISOString();
  // LiveKit has nanoseconds as a text.
  if (typeof value === 'string' && INSTANTS[name] !== undefined && /^\d{19}$/.test(value))
    return `${BEGIN_MS + INSTANTS[name]}000000`;
  return VALUES[name] ?? value;
}

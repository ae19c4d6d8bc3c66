import { type Static, Type } from 'typebox';
import { SCOPE_MEANINGS, SCOPES } from './choices.ts';
import { idParameter, instantSchema, nameSchema } from './names.ts';
import { nextCursor, PAGE } from './paging.ts';
import { closed, closedQuery, named, orNull } from './schema.ts';

/** Id of the root key, API_KEY, which is not in the database. */
export const ROOT_KEY_ID = 'root';

/** A century, so that the end remains a date that calendars support. */
export const MAX_KEY_TTL_SECONDS = 3_153_600_000;

const keyId = {
  description: 'Form key_<id>: sent as X-Api-Key',
  examples: ['key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
};

const scopes = Type.Array(Type.Enum(SCOPES), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
  description: `Scopes of the key. ${SCOPES.map((scope) => `\`${scope}\`: ${SCOPE_MEANINGS[scope]}`).join('. ')}.`,
  examples: [['read', 'rooms']],
});

/** A key may be for so many parts of the rooms. */
const MAX_ROOM_PREFIXES = 20;

/** Longest beginning of names, in UTF-16 code units: the parts of names are indexed so far. */
export const MAX_PREFIX_LENGTH = 64;

/** Most parts of a beginning of names: what is longer than the parts that are indexed would find nothing. */
export const MOST_PREFIX_PARTS = 8;

/** The characters that end a part of a name. Without one at its end, `acme` would also mean the rooms of `acme2`. */
export const PREFIX_ENDS = '-_.:/';

/** Beginnings of names of rooms. */
export type RoomPrefixes = readonly string[];

/**
 * Returns whether the name of a room begins with one of the prefixes. Without prefixes every room is meant, and no room too.
 */
export function isOfRooms(room: string | null | undefined, prefixes: RoomPrefixes | undefined): boolean {
  if (prefixes === undefined) return true;
  return typeof room === 'string' && prefixes.some((prefix) => room.startsWith(prefix));
}

const roomPrefixes = Type.Array(
  Type.String({
    minLength: 2,
    maxLength: MAX_PREFIX_LENGTH,
    format: 'livekit-name',
    pattern: `^([^${PREFIX_ENDS}]*[${PREFIX_ENDS}]){1,${MOST_PREFIX_PARTS}}$`,
    description: `Beginning of names, up to and with one of ${[...PREFIX_ENDS].join(' ')}`,
    examples: ['acme-'],
  }),
  { minItems: 1, maxItems: MAX_ROOM_PREFIXES, uniqueItems: true },
);

const shownPrefixes = Type.Union([Type.Array(Type.String()), Type.Null()], {
  description: 'The rooms of the key, by the beginnings of their names; null for all rooms',
  examples: [['acme-']],
});

const MOST = 1_000_000_000;

function ownLimit(description: string, example: number) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, description, examples: [example] }));
}

/** The limits of one key, beside the limits of the service. The ones about rooms need `rooms`. */
const ownLimits = Type.Object(
  {
    webhooks: ownLimit('Webhooks that it may register', 5),
    plans: ownLimit('Plans that it may make', 50),
    rooms: ownLimit('Rooms of its own that may be open at once', 20),
    participants: ownLimit('People who may be in its rooms at once', 200),
    minutesPerMonth: ownLimit('Participant minutes in its rooms in a month, in UTC', 100_000),
    requestsPerSecond: ownLimit('Requests in a second to one instance, if RATE_LIMIT_API is not lower', 20),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type OwnLimits = Static<typeof ownLimits>;

export const OWN_LIMITS = [
  'webhooks',
  'plans',
  'rooms',
  'participants',
  'minutesPerMonth',
  'requestsPerSecond',
] as const satisfies readonly (keyof OwnLimits)[];

/** The limits that count what is in the rooms of a key. */
export const ROOM_LIMITS = [
  'rooms',
  'participants',
  'minutesPerMonth',
] as const satisfies readonly (keyof OwnLimits)[];
export type RoomLimit = (typeof ROOM_LIMITS)[number];

const shownLimits = orNull(
  Type.Partial(ownLimits),
  'The limits that the key was made with; null for those of the service alone',
);

export const KeyParams = Type.Object({
  keyId: idParameter('Form key_<id>', 'key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

export const KeyCreateSchema = closed('KeyCreate', 'The API key to create', {
  name: nameSchema('Purpose of the key, such as the program that uses it', 'booking back end'),
  scopes,
  rooms: Type.Optional({
    ...roomPrefixes,
    description:
      'Only rooms whose names begin with one of these: the key sees and changes nothing of others. Without it, all rooms',
  }),
  limits: Type.Optional({ ...ownLimits, description: 'Limits of this key' }),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_KEY_TTL_SECONDS,
      description: 'Seconds until the key expires; without it, the key is valid until it is revoked',
      examples: [7_776_000],
    }),
  ),
});
export type KeyCreate = Static<typeof KeyCreateSchema>;

const STATUSES = ['active', 'expired', 'revoked'] as const;

export const KeySchema = named('Key', 'An API key beside the root key', {
  id: Type.String(keyId),
  name: Type.String({
    description: 'Name of the key, such as the program that uses it',
    examples: ['booking back end'],
  }),
  scopes,
  rooms: shownPrefixes,
  limits: shownLimits,
  status: Type.Enum(STATUSES, { description: 'Only an active key is accepted' }),
  createdAt: instantSchema('When the key was created'),
  expiresAt: orNull(instantSchema('When it ends'), 'When it expires; null for never'),
  revokedAt: orNull(instantSchema('When it was revoked'), 'When it was revoked; null if it was not'),
  lastUsedAt: orNull(
    instantSchema('The minute of its last request'),
    'The minute in which it last signed a request, known to all instances a minute later; null if it never did',
  ),
  secret: Type.Optional(
    Type.String({
      description: 'The secret to sign with; only in the response to the creation',
      examples: ['rtcsk_…'],
    }),
  ),
});
export type Key = Static<typeof KeySchema>;

export const KeyListQuery = closedQuery(PAGE);
export type KeyListQuery = Static<typeof KeyListQuery>;

export const KeyListSchema = named('KeyList', 'A page of API keys', {
  keys: Type.Array(KeySchema, { description: 'The keys, oldest first' }),
  nextCursor,
});
export type KeyList = Static<typeof KeyListSchema>;

/** The things of which one API key may have only so many. */
export const LIMITED_KINDS = ['webhooks', 'plans', 'vocabularies', 'blocks'] as const;
export type LimitedKind = (typeof LIMITED_KINDS)[number];

const KIND_MEANINGS: Readonly<Record<LimitedKind, string>> = {
  webhooks: 'Webhooks that the key has registered',
  plans: 'Plans that the key has made',
  vocabularies: 'Rooms to which the key gave a vocabulary',
  blocks: 'Blocks by the key that have not ended',
};

const ROOM_MEANINGS: Readonly<Record<RoomLimit, string>> = {
  rooms: 'Rooms of the key that are open',
  participants: 'People in the rooms of the key',
  minutesPerMonth: 'Participant minutes in the rooms of the key in this month, a minute old at most',
};

function limitSchema(description: string) {
  return Type.Object(
    {
      used: Type.Integer({ minimum: 0, description: 'How many there are now', examples: [3] }),
      limit: Type.Integer({ minimum: 1, description: 'How many there may be', examples: [100] }),
    },
    { description },
  );
}

export const OwnKeySchema = named('OwnKey', 'The key that signed the request, with its scopes and limits', {
  id: Type.String({ ...keyId, description: `Form key_<id>; \`${ROOT_KEY_ID}\` for the root key, API_KEY` }),
  name: Type.String({ description: `What it is for; \`${ROOT_KEY_ID}\` for the root key` }),
  isRoot: Type.Boolean({ description: 'Whether it is the root key, which alone creates and revokes keys' }),
  scopes,
  rooms: shownPrefixes,
  expiresAt: orNull(instantSchema('When it ends'), 'When it expires; null for never'),
  limits: Type.Optional(
    Type.Object(
      {
        webhooks: limitSchema(KIND_MEANINGS.webhooks),
        plans: limitSchema(KIND_MEANINGS.plans),
        vocabularies: limitSchema(KIND_MEANINGS.vocabularies),
        blocks: limitSchema(KIND_MEANINGS.blocks),
        rooms: Type.Optional(limitSchema(ROOM_MEANINGS.rooms)),
        participants: Type.Optional(limitSchema(ROOM_MEANINGS.participants)),
        minutesPerMonth: Type.Optional(limitSchema(ROOM_MEANINGS.minutesPerMonth)),
        requestsPerSecond: Type.Optional(
          Type.Object(
            { limit: Type.Integer({ minimum: 1, description: 'How many there may be', examples: [20] }) },
            { description: 'Requests in a second to one instance' },
          ),
        ),
      },
      {
        description:
          'What the key may have only so many of; absent for the root key. Later versions may add kinds',
      },
    ),
  ),
});
export type OwnKey = Static<typeof OwnKeySchema>;

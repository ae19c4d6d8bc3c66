import { type Static, Type } from 'typebox';
import { SCOPE_MEANINGS, SCOPES } from './choices.ts';
import { idParameter, instantSchema, nameSchema } from './names.ts';
import { nextCursor, pageCursor, pageLimit } from './paging.ts';

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

export const KeyParams = Type.Object({
  keyId: idParameter('Form key_<id>', 'key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

export const KeyCreateSchema = Type.Object(
  {
    name: nameSchema('Purpose of the key, such as the program that uses it', 'booking back end'),
    scopes,
    ttl: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_KEY_TTL_SECONDS,
        description: 'Seconds until the key expires; without it, the key is valid until it is revoked',
        examples: [7_776_000],
      }),
    ),
  },
  { $id: 'KeyCreate', description: 'The API key to create', additionalProperties: false },
);
export type KeyCreate = Static<typeof KeyCreateSchema>;

const STATUSES = ['active', 'expired', 'revoked'] as const;

export const KeySchema = Type.Object(
  {
    id: Type.String(keyId),
    name: Type.String({
      description: 'Name of the key, such as the program that uses it',
      examples: ['booking back end'],
    }),
    scopes,
    status: Type.Enum(STATUSES, { description: 'Only an active key is accepted' }),
    createdAt: instantSchema('When the key was created'),
    expiresAt: Type.Union([instantSchema('When it ends'), Type.Null()], {
      description: 'When it expires; null for never',
    }),
    revokedAt: Type.Union([instantSchema('When it was revoked'), Type.Null()], {
      description: 'When it was revoked; null if it was not',
    }),
    secret: Type.Optional(
      Type.String({
        description: 'The secret to sign with; only in the response to the creation',
        examples: ['rtcsk_…'],
      }),
    ),
  },
  { $id: 'Key', description: 'An API key beside the root key' },
);
export type Key = Static<typeof KeySchema>;

export const KeyListQuery = Type.Object(
  { limit: pageLimit(200, 'default 50'), cursor: pageCursor(512) },
  { additionalProperties: false },
);
export type KeyListQuery = Static<typeof KeyListQuery>;

export const KeyListSchema = Type.Object(
  { keys: Type.Array(KeySchema, { description: 'The keys, oldest first' }), nextCursor },
  { $id: 'KeyList', description: 'A page of API keys' },
);
export type KeyList = Static<typeof KeyListSchema>;

/** What one API key may have only so many of. */
export const LIMITED_KINDS = ['webhooks', 'vocabularies', 'blocks'] as const;
export type LimitedKind = (typeof LIMITED_KINDS)[number];

const KIND_MEANINGS: Readonly<Record<LimitedKind, string>> = {
  webhooks: 'Webhooks that the key has registered',
  vocabularies: 'Rooms to which the key gave a vocabulary',
  blocks: 'Blocks by the key that have not ended',
};

function limitSchema(kind: LimitedKind) {
  return Type.Object(
    {
      used: Type.Integer({ minimum: 0, description: 'How many there are now', examples: [3] }),
      limit: Type.Integer({ minimum: 1, description: 'How many there may be', examples: [100] }),
    },
    { description: KIND_MEANINGS[kind] },
  );
}

export const OwnKeySchema = Type.Object(
  {
    id: Type.String({ ...keyId, description: `Form key_<id>; \`${ROOT_KEY_ID}\` for the root key, API_KEY` }),
    name: Type.String({ description: `What it is for; \`${ROOT_KEY_ID}\` for the root key` }),
    isRoot: Type.Boolean({ description: 'Whether it is the root key, which alone creates and revokes keys' }),
    scopes,
    expiresAt: Type.Union([instantSchema('When it ends'), Type.Null()], {
      description: 'When it expires; null for never',
    }),
    limits: Type.Optional(
      Type.Object(
        {
          webhooks: limitSchema('webhooks'),
          vocabularies: limitSchema('vocabularies'),
          blocks: limitSchema('blocks'),
        },
        {
          description:
            'What the key may have only so many of; absent for the root key. Later versions may add kinds',
        },
      ),
    ),
  },
  { $id: 'OwnKey', description: 'The key that signed the request, with its scopes and limits' },
);
export type OwnKey = Static<typeof OwnKeySchema>;

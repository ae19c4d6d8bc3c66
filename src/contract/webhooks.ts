import { type Static, Type } from 'typebox';
import { EVENT_NAMES } from './event-names.ts';
import { idParameter, instantSchema, isLongerThan } from './names.ts';
import { nextPageCursor, pageCursor, pageLimit } from './paging.ts';
import { hintSchema } from './problem.ts';
import { closed, closedQuery, named, orNull } from './schema.ts';

const MAX_URL_LENGTH = 2048;
/** Replaces the secret in every response except that of the creation. */
export const WEBHOOK_SECRET_MASK = '***';
/** Maximum length, so that any secret of another system can be used. */
const MAX_SECRET_BYTES = 1024;
const SECRET_LENGTH = { minLength: 1, maxLength: MAX_SECRET_BYTES } as const;

const url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_LENGTH,
  format: 'webhook-url',
  description: 'Delivery endpoint, http or https, without user info, on a public address',
  examples: ['https://example.org/hooks/rtc'],
});
const events = Type.Array(Type.Enum(EVENT_NAMES, { description: 'An event name, or * for all' }), {
  minItems: 1,
  maxItems: 64,
  uniqueItems: true,
  description: 'Event filter; default ["*"]',
  examples: [['room_started', 'room_finished']],
});
export const WEBHOOK_ORDERINGS = ['none', 'room'] as const;
export type WebhookOrdering = (typeof WEBHOOK_ORDERINGS)[number];
const ordering = Type.Enum(WEBHOOK_ORDERINGS, {
  description:
    'room: the events of one session of a room are sent one after the other, by their sequence, and wait while an earlier one is retried; none: they may overtake each other',
  examples: ['none'],
});
const paused = Type.Boolean({
  description:
    'true: nothing is sent from now on, and the events of the first three days are kept; false: what was kept is sent',
});
const secret = Type.String({
  ...SECRET_LENGTH,
  format: 'webhook-secret',
  description: `HMAC signing secret: whsec_ and base64, or another text of up to ${MAX_SECRET_BYTES} bytes of UTF-8 on one line, without blanks or quotes around it; generated as whsec_<base64 of 32 bytes> when absent`,
});

export const webhookIdParameter = idParameter('Form wh_<id>', 'wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C');

export const WebhookParams = Type.Object({ webhookId: webhookIdParameter });

export const WebhookCreateSchema = closed('WebhookCreate', 'The webhook to register', {
  url,
  events: Type.Optional(events),
  secret: Type.Optional(secret),
  ordering: Type.Optional(ordering),
});
export type WebhookCreate = Static<typeof WebhookCreateSchema>;

export const WebhookPatchSchema = closed('WebhookPatch', 'What to change', {
  url: Type.Optional(url),
  events: Type.Optional(events),
  ordering: Type.Optional(ordering),
  paused: Type.Optional(paused),
});
export type WebhookPatch = Static<typeof WebhookPatchSchema>;

/** A webhook may be sent back as it was read. */
const IGNORED = { description: 'Ignored, so that you can send a webhook as you read it', examples: ['…'] };

export const WebhookPutSchema = closed('WebhookPut', 'Changes of the webhook, including the secret', {
  url: Type.Optional(url),
  events: Type.Optional(events),
  ordering: Type.Optional(ordering),
  paused: Type.Optional(paused),
  secret: Type.Optional(
    Type.String({
      ...SECRET_LENGTH,
      format: 'webhook-put-secret',
      description: `New signing secret, in the form of the creation; the mask ${WEBHOOK_SECRET_MASK} keeps the current one`,
    }),
  ),
  id: Type.Optional(Type.Unknown(IGNORED)),
  pausedAt: Type.Optional(Type.Unknown(IGNORED)),
  createdAt: Type.Optional(Type.Unknown(IGNORED)),
  createdBy: Type.Optional(Type.Unknown(IGNORED)),
  rooms: Type.Optional(Type.Unknown(IGNORED)),
});
export type WebhookPut = Static<typeof WebhookPutSchema>;

const WebhookWarningSchema = named('WebhookWarning', 'A warning about a webhook', {
  code: Type.Enum(['private-address'], {
    description: 'private-address: the service does not deliver to the address of the URL',
  }),
  detail: Type.String({
    description: 'What is wrong, and what to do',
    examples: [
      '10.0.0.1 is not public: nothing is delivered there unless WEBHOOK_ALLOWED_NETWORKS has its network.',
    ],
  }),
});
export type WebhookWarning = Static<typeof WebhookWarningSchema>;

export const WebhookSchema = named('Webhook', 'A URL that receives events', {
  id: Type.String({ description: 'Form wh_<id>', examples: ['wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
  url: Type.String({ description: 'Where deliveries go', examples: ['https://example.org/hooks/rtc'] }),
  events: Type.Array(Type.String(), {
    description: 'Events that it receives; * for all',
    examples: [['*']],
  }),
  secret: Type.String({
    description: 'The secret in the response to the creation; a mask in all others',
    examples: [WEBHOOK_SECRET_MASK],
  }),
  ordering,
  pausedAt: orNull(
    instantSchema('When it was paused'),
    'Since when nothing is sent to it; null while it is not paused',
  ),
  createdAt: instantSchema('When it was registered'),
  createdBy: Type.String({
    description: 'Id of the API key that registered it, to whose limit it counts; `root` for the root key',
    examples: ['key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
  }),
  rooms: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Only events of rooms whose names begin with one of these are sent, because its key is for these rooms',
      examples: [['acme-']],
    }),
  ),
  warnings: Type.Optional(
    Type.Array(WebhookWarningSchema, {
      description: 'Only in the response to a creation or change, if there is a warning',
    }),
  ),
});
export type Webhook = Static<typeof WebhookSchema>;

export const WebhookListQuery = closedQuery({
  limit: pageLimit(1000, 'without it, all webhooks'),
  cursor: pageCursor(512),
});
export type WebhookListQuery = Static<typeof WebhookListQuery>;

export const WebhookListSchema = named('WebhookList', 'Every webhook, or a page of them', {
  webhooks: Type.Array(WebhookSchema, { description: 'The webhooks, oldest first' }),
  nextCursor: nextPageCursor,
});
export type WebhookList = Static<typeof WebhookListSchema>;

export const WebhookTestSchema = named('WebhookTest', 'The result of the test delivery', {
  delivered: Type.Boolean({ description: 'Whether the receiver responded with 2xx' }),
  statusCode: Type.Integer({
    description: "The receiver's status; 0 if there was no response",
    examples: [200],
  }),
  error: Type.Optional(
    Type.String({ description: 'Why there was no complete response, or where the receiver redirects to' }),
  ),
  hint: Type.Optional(hintSchema('What to do about a redirect')),
});
export type WebhookTest = Static<typeof WebhookTestSchema>;

/** Returns why `text` is no webhook URL; undefined when it is one. Addresses are checked when they are connected to. */
export function webhookUrlFault(text: string): string | undefined {
  // WHATWG's parser removes or converts these characters, but the text is stored and shown as received.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (!URL.canParse(text)) return 'must be an absolute URL';
  if (!/^https?:\/\//i.test(text)) return 'must begin with https:// or http://';
  const { username, password, hostname } = new URL(text);
  if (hostname === '') return 'must name a host';
  return username !== '' || password !== '' ? 'must not carry user info' : undefined;
}

/** Returns why `text` is no webhook secret; undefined when it is one. */
export function webhookSecretFault(text: string): string | undefined {
  // Otherwise a caller who sends back the response of a read would make three asterisks the secret.
  if (text === WEBHOOK_SECRET_MASK) return 'must be a secret, not the mask that stands for one';
  if (text === '') return 'must not be empty';
  if (isLongerThan(text, MAX_SECRET_BYTES)) return `must be at most ${MAX_SECRET_BYTES} bytes of UTF-8`;
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return copyingFault(text) ?? (text.startsWith(SECRET_PREFIX) ? encodingFault(text) : undefined);
}

const SECRET_PREFIX = 'whsec_';

/**
 * Returns what was copied with a secret. The other side reads its own from a variable or a file, which drops it, so that no
 * signature would match.
 */
export function copyingFault(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'must not contain a line end or another control character';
  if (text.trim() !== text) return 'must not begin or end with a blank';
  if (/^(["']).+\1$/.test(text)) return 'must not be in quotes';
  if (text.startsWith(`v1,${SECRET_PREFIX}`)) return 'must begin with whsec_, without the v1, of a signature';
  return undefined;
}

/** Libraries of Standard Webhooks decode what follows whsec_, and refuse it or get other bytes if it is not exact. */
function encodingFault(text: string): string | undefined {
  const encoded = text.slice(SECRET_PREFIX.length);
  const fault = 'must be base64 with its padding after whsec_';
  try {
    return encoded !== '' && btoa(atob(encoded)) === encoded ? undefined : fault;
  } catch {
    return fault;
  }
}

/** The same check for a request in which the mask means the current secret. */
export function webhookPutSecretFault(text: string): string | undefined {
  return text === WEBHOOK_SECRET_MASK ? undefined : webhookSecretFault(text);
}

import { type Static, Type } from 'typebox';
import { AUDIT_RESULTS } from './choices.ts';
import { instantSchema, nameSchema } from './names.ts';
import { nextCursor, pageCursor, pageLimit } from './paging.ts';
import { closedQuery, named, optionalInstant } from './schema.ts';

export const AuditEntrySchema = named(
  'AuditEntry',
  'A request that changed something or tried to. A search by requestId also finds failed requests of other kinds',
  {
    id: Type.String({ description: 'Form aud_<id>', examples: ['aud_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    occurredAt: instantSchema('When the request was received'),
    keyId: Type.String({
      description: 'Id of the API key that signed the request; `root` for API_KEY',
      examples: ['key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
    }),
    method: Type.String({ description: 'HTTP method', examples: ['DELETE'] }),
    path: Type.String({
      description: 'Path with the names of its parameters',
      examples: ['/v1/rooms/:roomId'],
    }),
    ids: Type.Record(Type.String(), Type.String(), {
      description: 'The parameters of the path, and the id of what was created',
      examples: [{ roomId: 'demo' }],
    }),
    address: Type.Union([Type.String(), Type.Null()], {
      description: "The caller's network: the address cut to /24, or /48 for IPv6; null if it is not known",
      examples: ['203.0.113.0/24'],
    }),
    requestId: Type.String({
      description: 'X-Request-Id of the response',
      examples: ['6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51'],
    }),
    status: Type.Integer({ description: 'HTTP status of the response', examples: [204] }),
    result: Type.Enum(AUDIT_RESULTS, {
      description: 'Result: done (2xx), refused (4xx) or failed (5xx)',
    }),
    problem: Type.Union([Type.String(), Type.Null()], {
      description: 'Slug of the problem type; null without a problem',
      examples: ['insufficient-scope'],
    }),
  },
);
export type AuditEntry = Static<typeof AuditEntrySchema>;

/** A cursor holds an instant and an id. */
const MAX_CURSOR_LENGTH = 512;

export const AuditListQuery = closedQuery({
  keyId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Only requests of this API key: key_<id>, or root',
    }),
  ),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The earlier name of keyId',
      deprecated: true,
    }),
  ),
  roomId: Type.Optional(nameSchema('Only requests about this room', 'demo')),
  room: Type.Optional({ ...nameSchema('The earlier name of roomId', 'demo'), deprecated: true }),
  since: optionalInstant('Only requests from this instant on'),
  until: optionalInstant('Only before then'),
  result: Type.Optional(Type.Enum(AUDIT_RESULTS, { description: 'Only requests with this result' })),
  requestId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Only the request with this X-Request-Id; also a read or a token that failed within the last hour',
    }),
  ),
  limit: pageLimit(200, 'default 50'),
  cursor: pageCursor(MAX_CURSOR_LENGTH),
});
export type AuditListQuery = Static<typeof AuditListQuery>;

export const AuditListSchema = named('AuditList', 'A page of the audit log', {
  entries: Type.Array(AuditEntrySchema, { description: 'The entries, newest first' }),
  nextCursor,
});
export type AuditList = Static<typeof AuditListSchema>;

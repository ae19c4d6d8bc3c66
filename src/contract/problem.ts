import { type Static, Type } from 'typebox';
import { instantSchema } from './names.ts';
import { named, orNull } from './schema.ts';

const FieldErrorSchema = named('FieldError', 'One invalid field or parameter', {
  pointer: Type.Optional(
    Type.String({ description: 'JSON pointer into the body, as a URI fragment: #/name' }),
  ),
  parameter: Type.Optional(Type.String({ description: 'Name of the query or path parameter' })),
  detail: Type.String({ description: 'What is wrong with it' }),
});

/** The schema of a Hint. */
export function hintSchema(description: string) {
  return Type.Object(
    {
      text: Type.String({ description: 'The hint, in lower case and without a full stop' }),
      command: Type.Optional(Type.String({ description: 'The command to run' })),
    },
    { description },
  );
}

/** RFC 9457 problem details, the shape of every error under /v1. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String({
      description: 'URI of the problem kind',
      examples: ['urn:problem-type:rtc:room-not-found'],
    }),
    title: Type.String({ description: 'HTTP reason phrase' }),
    status: Type.Integer({ description: 'HTTP status' }),
    detail: Type.String({ description: 'What is wrong, and what to do next' }),
    instance: Type.Optional(Type.String({ description: 'urn:uuid:<request id>' })),
    errors: Type.Optional(
      Type.Array(FieldErrorSchema, { description: 'Every invalid field or parameter, up to 100' }),
    ),
    errorsTruncated: Type.Optional(
      Type.Literal(true, { description: 'There are more invalid fields than `errors` lists' }),
    ),
    hint: Type.Optional(hintSchema('What to do next; `detail` says it too')),
    blockedUntil: Type.Optional(
      orNull(instantSchema('When the block ends'), 'End of the block; null for a permanent one'),
    ),
    requiredScopes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Scopes, of which the API key needs one; `root` if only the root key may do it',
      }),
    ),
    serverTime: Type.Optional(Type.Integer({ description: "The server's clock, Unix seconds" })),
  },
  { $id: 'Problem', description: 'RFC 9457 problem details', additionalProperties: true },
);

export type Problem = Static<typeof ProblemSchema>;

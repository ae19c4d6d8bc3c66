import { type Static, Type } from 'typebox';
import { POST_STATUSES } from './choices.ts';
import { nameSchema } from './names.ts';
import { PAGE } from './paging.ts';

/** BCP 47, as far as speech models distinguish languages: language, script, region, variants. */
export const LANGUAGE_PATTERN = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$';

const searched = {
  roomId: Type.Optional(nameSchema('Only transcriptions of this room', 'demo')),
  recordingId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Only transcriptions of this recording (egress id)',
    }),
  ),
  ...PAGE,
};

const WORDS = {
  minLength: 1,
  maxLength: 256,
  examples: ['budget meeting'],
};
const WORDS_MEANING =
  'Words to find in transcripts, live and of recordings; a segment must have all of them. Plain text: no character has a special meaning';
const SPOKEN_LANGUAGE = { pattern: LANGUAGE_PATTERN, maxLength: 35, examples: ['en'] };

export const TranscriptSearchQuery = Type.Object(
  {
    q: Type.String({ ...WORDS, description: WORDS_MEANING }),
    ...searched,
    language: Type.Optional(
      Type.String({
        ...SPOKEN_LANGUAGE,
        description: 'Only segments in this language (BCP 47); en includes en-US',
      }),
    ),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only segments that begin then or later' }),
    ),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only segments that begin before then' }),
    ),
  },
  { additionalProperties: false },
);

export const TranscriptionListQuery = Type.Object(
  {
    ...searched,
    status: Type.Optional(Type.Enum(POST_STATUSES, { description: 'Only transcriptions in this state' })),
  },
  { additionalProperties: false },
);
export type TranscriptionListQuery = Static<typeof TranscriptionListQuery>;
export type TranscriptSearchQuery = Static<typeof TranscriptSearchQuery>;

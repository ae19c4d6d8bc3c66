import { type Static, Type } from 'typebox';
import { instantSchema } from './names.ts';
import { named } from './schema.ts';

/**
 * `unknown`: the service cannot find out, and `next` may describe how to. `note`: something optional is missing, and nothing
 * is wrong.
 */
export const SELF_CHECK_STATUSES = ['ok', 'note', 'warning', 'fault', 'unknown'] as const;

/** Result of one check of something that the service depends on, for people to read. */
export const SelfCheckSchema = named('SelfCheck', 'One check', {
  check: Type.String({ description: 'Name of the check', examples: ['bucket'] }),
  status: Type.Enum(SELF_CHECK_STATUSES, {
    description:
      'note: something optional is missing, and nothing is wrong; unknown: the service cannot find out, and `next` may describe how to',
  }),
  detail: Type.String({
    description: 'What was found',
    examples: ['the object storage refuses the signature'],
  }),
  next: Type.String({
    description: 'What to do; empty when nothing is needed',
    examples: ['check S3_SECRET_KEY'],
  }),
});

export type SelfCheck = Static<typeof SelfCheckSchema>;

export const SelfCheckListSchema = named('SelfCheckList', "Results of the service's checks of itself", {
  checks: Type.Array(SelfCheckSchema, { description: 'Every check' }),
});

export type SelfCheckList = Static<typeof SelfCheckListSchema>;

const languagesByKind = (description: string) =>
  Type.Object(
    {
      live: Type.Array(Type.String(), {
        description: 'Languages of live transcription',
        examples: [['en', 'it']],
      }),
      post: Type.Array(Type.String(), {
        description: 'Languages of the transcription of recordings',
        examples: [['en', 'it']],
      }),
    },
    { description },
  );

export const HealthSchema = named('Health', 'The service runs, with these capabilities', {
  status: Type.Literal('ok', { description: 'Always ok; a service that does not run does not respond' }),
  version: Type.String({ description: 'Version of the service', examples: ['0.1.0'] }),
  capabilities: Type.Object(
    {
      transcriptionLive: Type.Boolean({ description: 'Whether a stt-live worker is running' }),
      transcriptionPost: Type.Boolean({ description: 'Whether a stt-post worker is running' }),
      languages: Type.Optional(languagesByKind('BCP 47 tags that the living workers transcribe')),
      failedLanguages: Type.Optional(
        languagesByKind(
          'Languages for which a living worker has a model that does not work; rtc doctor has the reason',
        ),
      ),
    },
    { description: 'What the running add-ons can do' },
  ),
});

export type Health = Static<typeof HealthSchema>;

export const PURGE_REFUSAL_REASONS = ['pause', 'database-clock', 'media-server-clock'] as const;
export type PurgeRefusalReason = (typeof PURGE_REFUSAL_REASONS)[number];

export const ReadinessSchema = named('Readiness', 'Whether the service can do its work; 503 when it cannot', {
  ready: Type.Boolean({ description: 'Whether everything that is needed responds' }),
  checks: Type.Object(
    {
      mediaServer: Type.Boolean({ description: 'The media server responds and accepts our key' }),
      database: Type.Boolean({ description: 'The database responds' }),
    },
    { description: 'The dependencies, one by one' },
  ),
  eventsRefusedSince: Type.Optional(
    instantSchema(
      "Since when this instance has rejected the media server's events because it could not store them; absent when no event is missing",
    ),
  ),
  purgeRefusedSince: Type.Optional(
    instantSchema(
      'Since when this instance deletes nothing whose retention has ended, because the clock may be wrong; absent otherwise',
    ),
  ),
  purgeRefusedBecause: Type.Optional(
    Type.Enum([...PURGE_REFUSAL_REASONS], {
      description:
        'Why: `pause`: the last deletion, or the newest event before it, is more than a day ago (correct the clock, or confirm it: rtc admin confirm-clock); `database-clock`, `media-server-clock`: that clock differs from the service’s by more than five minutes (set the wrong one; a confirmation does not help)',
    }),
  ),
});

export type Readiness = Static<typeof ReadinessSchema>;

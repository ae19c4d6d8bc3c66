import { type Static, Type } from 'typebox';
import { instantSchema } from './names.ts';

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

export const HealthSchema = Type.Object(
  {
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
  },
  { $id: 'Health', description: 'The service runs, with these capabilities' },
);
export type Health = Static<typeof HealthSchema>;

export const ReadinessSchema = Type.Object(
  {
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
  },
  { $id: 'Readiness', description: 'Whether the service can do its work; 503 when it cannot' },
);
export type Readiness = Static<typeof ReadinessSchema>;

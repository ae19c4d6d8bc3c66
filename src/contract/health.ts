import { type Static, Type } from 'typebox';

export const HealthSchema = Type.Object(
  {
    status: Type.Literal('ok'),
    version: Type.String({ examples: ['0.1.0'] }),
    capabilities: Type.Object({
      transcriptionLive: Type.Boolean({ description: 'A stt-live worker is alive' }),
      transcriptionPost: Type.Boolean({ description: 'A stt-post worker is alive' }),
    }),
  },
  { $id: 'Health' },
);
export type Health = Static<typeof HealthSchema>;

export const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    checks: Type.Object({
      mediaServer: Type.Boolean({ description: 'The media server answers and accepts our key' }),
      database: Type.Boolean(),
    }),
  },
  { $id: 'Readiness', description: 'Whether the service can do its work; 503 when it cannot' },
);
export type Readiness = Static<typeof ReadinessSchema>;

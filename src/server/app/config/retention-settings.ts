import { integerSetting } from './setting.ts';

/** How long ended records are kept. */
export const RETENTION_SETTINGS = {
  EVENT_RETENTION: integerSetting({
    meaning: 'How long events are kept',
    fallback: 30,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  DELIVERY_RETENTION: integerSetting({
    meaning: 'How long ended deliveries are kept with their attempts',
    fallback: 30,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  SESSION_RETENTION: integerSetting({
    meaning: 'How long sessions that ended are kept, with who was there and when',
    fallback: 30,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  RECORDING_RETENTION: integerSetting({
    meaning: 'How long recordings are kept after their end, with their files; unset: until they are deleted',
    fallback: undefined as number | undefined,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  TRANSCRIPT_RETENTION: integerSetting({
    meaning: 'How long transcriptions are kept after their end; unset: until they are deleted',
    fallback: undefined as number | undefined,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  AUDIT_RETENTION: integerSetting({
    meaning: 'How long audit entries are kept, and API keys that have ended',
    fallback: 365,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
} as const;

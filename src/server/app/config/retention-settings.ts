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
    meaning: 'How long finished deliveries and their attempts are kept',
    fallback: 30,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  SESSION_RETENTION: integerSetting({
    meaning: 'How long sessions and their participants are kept after the end',
    fallback: 30,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  RECORDING_RETENTION: integerSetting({
    meaning: 'How long recordings and their files are kept after the end; if unset, until you delete them',
    fallback: undefined as number | undefined,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  TRANSCRIPT_RETENTION: integerSetting({
    meaning: 'How long transcriptions are kept after the end; if unset, until you delete them',
    fallback: undefined as number | undefined,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
  AUDIT_RETENTION: integerSetting({
    meaning: 'How long audit entries are kept, and revoked and expired API keys',
    fallback: 365,
    minimum: 1,
    maximum: 3650,
    unit: 'days',
  }),
} as const;

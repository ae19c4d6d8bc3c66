export const WEBHOOK_SIGNATURE_HEADER = 'x-service-webhook-signature';
export const WEBHOOK_EVENT_HEADER = 'x-service-webhook-event';
export const WEBHOOK_ID_HEADER = 'webhook-id';
export const WEBHOOK_TIMESTAMP_HEADER = 'webhook-timestamp';
export const STANDARD_SIGNATURE_HEADER = 'webhook-signature';

/** Maximum difference of webhook-timestamp to the receiver's clock, in seconds: the tolerance of Standard Webhooks. */
export const WEBHOOK_TOLERANCE_SECONDS = 300;

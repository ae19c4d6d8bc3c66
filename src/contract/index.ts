/*
 * `rtc-service/contract` publishes shapes, names and limits of the HTTP API, of events and of signatures. Left out is what only
 * the parts of this package share: paging, amounts, hints, and the like.
 */
export * from './audit.ts';
export * from './blocks.ts';
export * from './canonical-request.ts';
export * from './choices.ts';
export * from './deliveries.ts';
export * from './errors.ts';
export * from './event-names.ts';
export * from './event-payloads.ts';
export * from './events.ts';
export * from './fiscal-codes.ts';
export * from './ingress.ts';
export * from './keys.ts';
export * from './names.ts';
export * from './participants.ts';
export * from './places.ts';
export * from './plans.ts';
export * from './problem.ts';
export * from './read-service-data.ts';
export * from './recordings.ts';
export * from './rooms.ts';
export * from './self-check.ts';
export * from './sessions.ts';
export * from './signing.ts';
export * from './tokens.ts';
export * from './transcription.ts';
export * from './usage.ts';
export * from './vocabulary.ts';
export * from './waiting.ts';
export * from './webhook-signing.ts';
export * from './webhooks.ts';
export * from './words.ts';

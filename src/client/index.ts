export type { Audit, ListAuditOptions } from './audit.ts';
export type { Blocks, ListBlocksOptions } from './blocks.ts';
export { RtcClient } from './client.ts';
export type {
  Answer,
  CallOptions,
  Observer,
  QueryOptions,
  RtcClientOptions,
  SendOptions,
  ServiceResponse,
  WireRequest,
} from './client-options.ts';
export type { Deliveries, GetDeliveryOptions, ListDeliveriesOptions } from './deliveries.ts';
export type { HttpDispatcher } from './dispatcher-exchange.ts';
export type { Download, DownloadOptions } from './download.ts';
export type { Events } from './events.ts';
export type { Fetch } from './fetch-exchange.ts';
export type { EventFilter, FollowEventsOptions, ListEventsOptions } from './follow-events.ts';
export type { FollowTranscriptionOptions } from './follow-transcription.ts';
export type { Ingress } from './ingress.ts';
export type { Keys, ListKeysOptions } from './keys.ts';
export type {
  Participants,
  ParticipantTarget,
  RemoveParticipantOptions,
  TrackTarget,
} from './participants.ts';
export type { ListRecordingsOptions, Recordings, StartRecordingOptions } from './recordings.ts';
export type { ListRoomsOptions, RoomCreation, Rooms } from './rooms.ts';
export { type ClientErrorCode, type ClientFault, problemOf, RtcError } from './rtc-error.ts';
export type { ListSessionParticipantsOptions, ListSessionsOptions, Sessions } from './sessions.ts';
export type { RequestSigner } from './sign-request.ts';
export type { Tokens } from './tokens.ts';
export type { ReadTranscriptionOptions, TextFormat, Transcription } from './transcription.ts';
export type { ListTranscriptionsOptions, Transcriptions } from './transcriptions.ts';
export { verifyWebhook, type WebhookDelivery, WebhookVerificationError } from './verify-webhook.ts';
export type { ListWebhooksOptions, Webhooks } from './webhooks.ts';

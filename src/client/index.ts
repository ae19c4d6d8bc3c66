export { readAdmission, readClosing } from '../contract/read-service-data.ts';
export { RtcClient } from './client.ts';
export type {
  CallOptions,
  Observer,
  QueryOptions,
  RtcClientOptions,
  SendOptions,
  ServiceResponse,
  WireRequest,
} from './client-options.ts';
export type { Audit, Keys, ListAuditOptions, ListKeysOptions } from './nouns/keys.ts';
export type {
  Broadcasts,
  Ingress,
  ListBroadcastsOptions,
  ListIngressOptions,
  ListRecordingsOptions,
  ListSessionParticipantsOptions,
  ListSessionsOptions,
  Recordings,
  Sessions,
  StartBroadcastOptions,
  StartRecordingOptions,
  Usage as RoomUsage,
  UsageOptions,
} from './nouns/recordings.ts';
export type {
  Blocks,
  ForgetWordsOptions,
  ListBlocksOptions,
  ListParticipantsOptions,
  ListPlansOptions,
  ListRoomsOptions,
  Participants,
  ParticipantTarget,
  PlanChange,
  Plans,
  RemoveParticipantOptions,
  RoomCreation,
  Rooms,
  Tokens,
  TrackTarget,
} from './nouns/rooms.ts';
export type {
  FollowTranscriptionOptions,
  ListLiveOptions,
  ListTranscriptionsOptions,
  ReadTranscriptionOptions,
  SearchTranscriptionsOptions,
  TextFormat,
  Transcription,
  Transcriptions,
  Vocabulary as RoomVocabulary,
} from './nouns/transcriptions.ts';
export type { Waiting, WaitingTarget } from './nouns/waiting.ts';
export type {
  Deliveries,
  EventFilter,
  Events,
  FollowEventsOptions,
  GetDeliveryOptions,
  ListDeliveriesOptions,
  ListEventsOptions,
  ListWebhooksOptions,
  Webhooks,
} from './nouns/webhooks.ts';
export { type ClientErrorCode, RtcError, toProblem } from './rtc-error.ts';
export type { HttpDispatcher } from './transport/dispatcher-exchange.ts';
export type { Download, DownloadOptions } from './transport/download.ts';
export type { Fetch } from './transport/fetch-exchange.ts';
export type { RequestSigner } from './transport/sign-request.ts';
export { verifyWebhook, type WebhookDelivery, WebhookVerificationError } from './verify-webhook.ts';

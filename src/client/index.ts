export type {
  Download,
  DownloadOptions,
  ListDeliveriesOptions,
  ListRecordingsOptions,
  ListRoomsOptions,
  RoomCreation,
} from './call-options.ts';
export { RtcClient } from './client.ts';
export type {
  Answer,
  CallOptions,
  HttpDispatcher,
  Observer,
  RtcClientOptions,
  SendOptions,
  WireRequest,
} from './client-options.ts';
export type { Fetch, FetchInit, FetchResponse } from './fetch-exchange.ts';
export type { EventFilter, FollowEventsOptions, ListEventsOptions } from './follow-events.ts';
export type { FollowTranscriptionOptions } from './follow-transcription.ts';
export type { HttpExchange, HttpRequest, HttpResponse } from './http-exchange.ts';
export { type ClientFault, problemOf, RtcError } from './rtc-error.ts';
export type { RequestSigner } from './sign-request.ts';
export type {
  ListTranscriptionsOptions,
  ReadTranscriptionOptions,
  TextFormat,
} from './transcription-calls.ts';

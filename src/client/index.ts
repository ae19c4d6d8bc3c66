export type { Answer } from './answer.ts';
export {
  type ListDeliveriesOptions,
  type ListRoomsOptions,
  type RoomCreation,
  RtcClient,
} from './client.ts';
export type { EventFilter, FollowEventsOptions, ListEventsOptions } from './follow-events.ts';
export { type ClientFault, problemOf, RtcError } from './rtc-error.ts';
export type { CallOptions, Observer, RtcClientOptions, SendOptions, WireRequest } from './transport.ts';

import type { Recording } from '../contract/recordings.ts';
import type { Room } from '../contract/rooms.ts';
import type { Delivery } from '../contract/webhooks.ts';
import type { CallOptions } from './client-options.ts';

/** A room as created or found, with what the two headers of the answer say. */
export type RoomCreation = {
  readonly room: Room;
  /** The room was there already; only its metadata was updated. */
  readonly existed: boolean;
  /** Settings of the request that the existing room does not have and did not take. */
  readonly ignored: readonly string[];
};

export type ListRoomsOptions = CallOptions & { readonly limit?: number; readonly cursor?: string };

export type ListDeliveriesOptions = CallOptions & {
  readonly status?: Delivery['status'] | undefined;
  /** Page size, at most 200; default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

export type ListRecordingsOptions = CallOptions & {
  readonly roomId?: string | undefined;
  readonly status?: Recording['status'] | undefined;
  /** Page size, at most 200; default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

export type DownloadOptions = {
  /** Goes on after that many bytes, of which the caller has got already; default 0. */
  readonly from?: number;
  /** Ends the reading of the body too. */
  readonly signal?: AbortSignal;
};

export type Download = {
  /** Where in the file `body` begins: `from`, or 0 when the whole comes all the same. */
  readonly start: number;
  /** Of the whole file; undefined when that is not said. */
  readonly sizeBytes: number | undefined;
  /** Read to its end, or left early. Throws RtcError when it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
};

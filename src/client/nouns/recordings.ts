import type {
  Recording,
  RecordingList,
  RecordingListQuery,
  RecordingSettings,
  RecordingStart,
  RecordingStatus,
  RecordingStop,
} from '../../contract/recordings.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { type Download, type DownloadOptions, download } from '../transport/download.ts';
import { recordingPath, roomPath, toQuery, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages, LARGEST_PAGE } from './pages.ts';

/** Page size at most 200; default 50. */
export type ListRecordingsOptions = QueryOptions<RecordingListQuery>;

/** How to record. Without options the recorder's defaults apply. */
export type StartRecordingOptions = QueryOptions<RecordingSettings>;

/** Recordings of rooms and their files: `client.recordings`. */
export class Recordings {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * POST /v1/rooms/:roomId/recording/start: starts a recording, or returns the active one. A recorder may take 25 s to
   * start.
   */
  async start(room: string, options: StartRecordingOptions = {}): Promise<RecordingStart> {
    const { layout, audioOnly, preset, recordTracks, ...rest } = options;
    const settings = { layout, audioOnly, preset, recordTracks };
    const isAsIs = Object.values(settings).every((each) => each === undefined);
    const path = roomPath(room, 'recording', 'start');
    return await this.#transport.call('POST', path, isAsIs ? rest : withBody(settings, rest));
  }

  /** POST /v1/rooms/:roomId/recording/stop. */
  async stop(room: string, options?: CallOptions): Promise<RecordingStop> {
    return await this.#transport.call('POST', roomPath(room, 'recording', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/recording: returns whether the room is being recorded. */
  async status(room: string, options?: CallOptions): Promise<RecordingStatus> {
    return await this.#transport.call('GET', roomPath(room, 'recording'), options);
  }

  /** GET /v1/recordings: returns a page of recordings, the newest first. */
  async list(options: ListRecordingsOptions = {}): Promise<RecordingList> {
    const { roomId, status, limit, cursor } = options;
    const query = toQuery({ roomId, status, limit, cursor });
    return await this.#transport.call('GET', `/v1/recordings${query}`, options);
  }

  /** Iterates over the recordings, the newest first, page by page. */
  all(options: ListRecordingsOptions = {}): AsyncGenerator<Recording, void, undefined> {
    return itemsOfPages('/v1/recordings', options.cursor, async (cursor) => {
      const { recordings, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: recordings, nextCursor };
    });
  }

  /** GET /v1/recordings/:recordingId. */
  async get(id: string, options?: CallOptions): Promise<Recording> {
    return await this.#transport.call('GET', recordingPath(id), options);
  }

  /**
   * GET /v1/recordings/:recordingId/download: downloads the file, from the service or from the bucket that it redirects to.
   */
  async download(id: string, options?: DownloadOptions): Promise<Download> {
    return await download(this.#transport, recordingPath(id, 'download'), options);
  }

  /** DELETE /v1/recordings/:recordingId: deletes the file and the record. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', recordingPath(id), options);
  }
}

import type {
  Broadcast,
  BroadcastChange,
  BroadcastList,
  BroadcastListQuery,
  BroadcastSettings,
  BroadcastStart,
  BroadcastStatus,
  BroadcastStop,
} from '../../contract/broadcasts.ts';
import type {
  IngressCreate,
  IngressList,
  IngressListQuery,
  Ingress as IngressRecord,
} from '../../contract/ingress.ts';
import type {
  Recording,
  RecordingList,
  RecordingListQuery,
  RecordingSettings,
  RecordingStart,
  RecordingStatus,
  RecordingStop,
} from '../../contract/recordings.ts';
import type {
  Session,
  SessionDetail,
  SessionList,
  SessionListQuery,
  SessionParticipant,
  SessionParticipantList,
  SessionParticipantListQuery,
} from '../../contract/sessions.ts';
import type { UsageLine, Usage as UsagePage, UsageQuery } from '../../contract/usage.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { type Download, type DownloadOptions, download } from '../transport/download.ts';
import { itemsOfPages, toPath, toQuery, withBody } from '../transport/request-parts.ts';
import { Noun } from '../transport/transport.ts';

/** Page size at most 200; default 50. */
export type ListRecordingsOptions = QueryOptions<RecordingListQuery>;

/** How to record. Without options the recorder's defaults apply. */
export type StartRecordingOptions = QueryOptions<RecordingSettings>;

/** Recordings of rooms and their files: `client.recordings`. */
export class Recordings extends Noun {
  /**
   * POST /v1/rooms/:roomId/recording/start: starts a recording, or returns the active one. A recorder may take 25 s to
   * start.
   */
  async start(room: string, options: StartRecordingOptions = {}): Promise<RecordingStart> {
    const { layout, audioOnly, preset, recordTracks, ...rest } = options;
    const settings = { layout, audioOnly, preset, recordTracks };
    const isAsIs = Object.values(settings).every((each) => each === undefined);
    const path = toPath('rooms', room, 'recording', 'start');
    return await this.transport.call('POST', path, isAsIs ? rest : withBody(settings, rest));
  }

  /** POST /v1/rooms/:roomId/recording/stop. */
  async stop(room: string, options?: CallOptions): Promise<RecordingStop> {
    return await this.transport.call('POST', toPath('rooms', room, 'recording', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/recording: returns whether the room is being recorded. */
  async status(room: string, options?: CallOptions): Promise<RecordingStatus> {
    return await this.transport.call('GET', toPath('rooms', room, 'recording'), options);
  }

  /** GET /v1/recordings: returns a page of recordings, the newest first. */
  async list(options: ListRecordingsOptions = {}): Promise<RecordingList> {
    const { roomId, status, limit, cursor } = options;
    const query = toQuery({ roomId, status, limit, cursor });
    return await this.transport.call('GET', `/v1/recordings${query}`, options);
  }

  /** Iterates over the recordings, the newest first, page by page. */
  all(options: ListRecordingsOptions = {}): AsyncGenerator<Recording, void, undefined> {
    return itemsOfPages({ path: '/v1/recordings', items: 'recordings' }, options, (page) => this.list(page));
  }

  /** GET /v1/recordings/:recordingId. */
  async get(id: string, options?: CallOptions): Promise<Recording> {
    return await this.transport.call('GET', toPath('recordings', id), options);
  }

  /**
   * GET /v1/recordings/:recordingId/download: downloads the file, from the service or from the bucket that it redirects to.
   */
  async download(id: string, options?: DownloadOptions): Promise<Download> {
    return await download(this.transport, toPath('recordings', id, 'download'), options);
  }

  /** DELETE /v1/recordings/:recordingId: deletes the file and the record. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('recordings', id), options);
  }
}

/** Page size at most 200; default 50. */
export type ListBroadcastsOptions = QueryOptions<BroadcastListQuery>;

/** The places to broadcast to (`urls`, `hls` or both), and how. */
export type StartBroadcastOptions = QueryOptions<BroadcastSettings>;

/** Broadcasts of rooms to other servers and as HLS: `client.broadcasts`. */
export class Broadcasts extends Noun {
  /**
   * POST /v1/rooms/:roomId/broadcast/start: starts a broadcast, or returns the active one. A recorder may take 25 s to
   * start. The URLs are secrets, and are returned without their keys.
   */
  async start(room: string, options: StartBroadcastOptions): Promise<BroadcastStart> {
    const { urls, hls, layout, preset, ...rest } = options;
    const path = toPath('rooms', room, 'broadcast', 'start');
    return await this.transport.call('POST', path, withBody({ urls, hls, layout, preset }, rest));
  }

  /** PATCH /v1/rooms/:roomId/broadcast: adds URLs to the running broadcast, and removes some by their ids. */
  async change(room: string, change: BroadcastChange, options?: CallOptions): Promise<Broadcast> {
    return await this.transport.call('PATCH', toPath('rooms', room, 'broadcast'), withBody(change, options));
  }

  /** POST /v1/rooms/:roomId/broadcast/stop. */
  async stop(room: string, options?: CallOptions): Promise<BroadcastStop> {
    return await this.transport.call('POST', toPath('rooms', room, 'broadcast', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/broadcast: returns the running broadcast with the state of each URL, or the last one. */
  async status(room: string, options?: CallOptions): Promise<BroadcastStatus> {
    return await this.transport.call('GET', toPath('rooms', room, 'broadcast'), options);
  }

  /** GET /v1/broadcasts: returns a page of broadcasts, the newest first. */
  async list(options: ListBroadcastsOptions = {}): Promise<BroadcastList> {
    const { roomId, limit, cursor } = options;
    return await this.transport.call('GET', `/v1/broadcasts${toQuery({ roomId, limit, cursor })}`, options);
  }

  /** Iterates over the broadcasts, the newest first, page by page. */
  all(options: ListBroadcastsOptions = {}): AsyncGenerator<Broadcast, void, undefined> {
    return itemsOfPages({ path: '/v1/broadcasts', items: 'broadcasts' }, options, (page) => this.list(page));
  }

  /** DELETE /v1/broadcasts/:broadcastId: deletes the HLS and the record. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('broadcasts', id), options);
  }
}

/** Page size at most 200; default 50. */
export type ListSessionsOptions = QueryOptions<SessionListQuery>;

/** Page size at most 1,000; default 200. */
export type ListSessionParticipantsOptions = QueryOptions<SessionParticipantListQuery>;

const PARTICIPANT_PAGE_SIZE = 1000;

/** Rooms from their opening to their end: `client.sessions`. */
export class Sessions extends Noun {
  /** GET /v1/sessions: returns a page of sessions, the newest first. */
  async list(options: ListSessionsOptions = {}): Promise<SessionList> {
    const { roomId, status, since, until, limit, cursor } = options;
    const query = toQuery({ roomId, status, since, until, limit, cursor });
    return await this.transport.call('GET', `/v1/sessions${query}`, options);
  }

  /** Iterates over the sessions, the newest first, page by page. */
  all(options: ListSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    return itemsOfPages({ path: '/v1/sessions', items: 'sessions' }, options, (page) => this.list(page));
  }

  /** GET /v1/sessions/:sessionId: returns a session with its first 1,000 participants. */
  async get(id: string, options?: CallOptions): Promise<SessionDetail> {
    return await this.transport.call('GET', toPath('sessions', id), options);
  }

  /**
   * GET /v1/sessions/:sessionId/participants: returns a page of participants and the times of their presence, in the order
   * in which they joined.
   */
  async listParticipants(
    id: string,
    options: ListSessionParticipantsOptions = {},
  ): Promise<SessionParticipantList> {
    const { limit, cursor } = options;
    const path = `${toPath('sessions', id, 'participants')}${toQuery({ limit, cursor })}`;
    return await this.transport.call('GET', path, options);
  }

  /** Iterates over the participants of a session, page by page. */
  allParticipants(
    id: string,
    options: ListSessionParticipantsOptions = {},
  ): AsyncGenerator<SessionParticipant, void, undefined> {
    return itemsOfPages(
      {
        path: toPath('sessions', id, 'participants'),
        items: 'participants',
        pageSize: PARTICIPANT_PAGE_SIZE,
      },
      options,
      (page) => this.listParticipants(id, page),
    );
  }
}

/** Page size at most 1,000; default 400. */
export type UsageOptions = QueryOptions<Omit<UsageQuery, 'format'>>;

/** Minutes and bytes, for invoices: `client.usage`. */
export class Usage extends Noun {
  /** GET /v1/usage: returns a page of groups in the order of their names, with the total of all. */
  async get(options: UsageOptions = {}): Promise<UsagePage> {
    const { from, to, by, roomId, prefix, limit, cursor } = options;
    const query = toQuery({ from, to, by, roomId, prefix, limit, cursor });
    return await this.transport.call('GET', `/v1/usage${query}`, options);
  }

  /** Iterates over the groups, page by page. */
  all(options: UsageOptions = {}): AsyncGenerator<UsageLine, void, undefined> {
    return itemsOfPages({ path: '/v1/usage', items: 'usage', pageSize: USAGE_PAGE_SIZE }, options, (page) =>
      this.get(page),
    );
  }
}

const USAGE_PAGE_SIZE = 1000;

/** Page size at most 1,000; without it, all, at most 10,000. */
export type ListIngressOptions = QueryOptions<IngressListQuery>;

/** Streams into a room over RTMP or WHIP: `client.ingress`. */
export class Ingress extends Noun {
  /**
   * POST /v1/rooms/:roomId/ingress: creates an ingress. The room need not exist yet. The holder of the stream key can
   * publish.
   */
  async create(room: string, ingress: IngressCreate, options?: CallOptions): Promise<IngressRecord> {
    return await this.transport.call('POST', toPath('rooms', room, 'ingress'), withBody(ingress, options));
  }

  /** GET /v1/rooms/:roomId/ingress: all of them, or with `limit` a page by id. */
  async list(room: string, options: ListIngressOptions = {}): Promise<IngressList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', toPath('rooms', room, 'ingress') + query, options);
  }

  /** Iterates over the ingresses of the room by id, page by page. */
  all(room: string, options: ListIngressOptions = {}): AsyncGenerator<IngressRecord, void, undefined> {
    return itemsOfPages({ path: toPath('rooms', room, 'ingress'), items: 'ingress' }, options, (page) =>
      this.list(room, page),
    );
  }

  /** GET /v1/ingress: the ingress of all rooms, or with `limit` a page by id. */
  async listEverywhere(options: ListIngressOptions = {}): Promise<IngressList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', `/v1/ingress${query}`, options);
  }

  /** Iterates over the ingresses of all rooms by id, page by page. */
  allEverywhere(options: ListIngressOptions = {}): AsyncGenerator<IngressRecord, void, undefined> {
    return itemsOfPages({ path: '/v1/ingress', items: 'ingress' }, options, (page) =>
      this.listEverywhere(page),
    );
  }

  /** DELETE /v1/rooms/:roomId/ingress/:ingressId: deletes the ingress and ends its stream. */
  async delete(room: string, ingressId: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('rooms', room, 'ingress', ingressId), options);
  }
}

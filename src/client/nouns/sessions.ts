import type {
  Session,
  SessionDetail,
  SessionList,
  SessionListQuery,
  SessionParticipant,
  SessionParticipantList,
  SessionParticipantListQuery,
} from '../../contract/sessions.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { sessionPath, toQuery } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages, LARGEST_PAGE } from './pages.ts';

/** Page size at most 200; default 50. */
export type ListSessionsOptions = QueryOptions<SessionListQuery>;

/** Page size at most 1,000; default 200. */
export type ListSessionParticipantsOptions = QueryOptions<SessionParticipantListQuery>;

const PARTICIPANT_PAGE_SIZE = 1000;

/** Rooms from their opening to their end: `client.sessions`. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/sessions: returns a page of sessions, the newest first. */
  async list(options: ListSessionsOptions = {}): Promise<SessionList> {
    const { roomId, status, since, until, limit, cursor } = options;
    const query = toQuery({ roomId, status, since, until, limit, cursor });
    return await this.#transport.call('GET', `/v1/sessions${query}`, options);
  }

  /** Iterates over the sessions, the newest first, page by page. */
  all(options: ListSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    return itemsOfPages('/v1/sessions', options.cursor, async (cursor) => {
      const { sessions, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: sessions, nextCursor };
    });
  }

  /** GET /v1/sessions/:sessionId: returns a session with its first 1,000 participants. */
  async get(id: string, options?: CallOptions): Promise<SessionDetail> {
    return await this.#transport.call('GET', sessionPath(id), options);
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
    const path = `${sessionPath(id, 'participants')}${toQuery({ limit, cursor })}`;
    return await this.#transport.call('GET', path, options);
  }

  /** Iterates over the participants of a session, page by page. */
  allParticipants(
    id: string,
    options: ListSessionParticipantsOptions = {},
  ): AsyncGenerator<SessionParticipant, void, undefined> {
    return itemsOfPages(sessionPath(id, 'participants'), options.cursor, async (cursor) => {
      const page = { limit: PARTICIPANT_PAGE_SIZE, ...options, cursor };
      const { participants, nextCursor } = await this.listParticipants(id, page);
      return { items: participants, nextCursor };
    });
  }
}

import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../clock.ts';
import { messageOf } from '../error-message.ts';
import type { Log } from '../log.ts';
import { hideTokens } from './errors.ts';
import type { JoinRequest, RoomAudioSubscriber, RoomConnection } from './room-audio.ts';
import type { RoomAddress } from './room-audio-messages.ts';
import { RoomAudioProcess } from './room-audio-process.ts';
import type { TokenSigner } from './token-signer.ts';

/*
 * Listens to rooms in child processes. LiveKit's room client keeps about half a megabyte of native memory for each
 * connection that it ever had, and cannot free it. Therefore a process takes a limited number of connections; then another
 * process takes the next ones, and the first one ends with the last of its rooms. A crash of the client's native code ends
 * such a process and not the worker.
 */

export type RoomAudioSubscriberSettings = {
  /** WebSocket URL of the media server. */
  readonly url: string;
  readonly tokenSigner: TokenSigner;
  readonly clock: Clock;
  readonly log: Log;
  /** Sample rate of the audio that callers receive. */
  readonly sampleRate: number;
  /** File of the child process: src/server/room-audio.ts or its bundle. */
  readonly program: string;
  /** Maximum connections of one process during its life. */
  readonly connectionsPerProcess?: number;
};

/** Some 12 MB of native memory. Starting a process takes about half a second, for which nobody waits. */
const CONNECTIONS_PER_PROCESS = 24;
/** Longer than any call, so that the token does not end the connection. */
const TOKEN_SECONDS = 24 * 3600;

/** Rejects when the room client cannot be loaded. */
export async function createRoomAudioSubscriber(
  settings: RoomAudioSubscriberSettings,
): Promise<RoomAudioSubscriber> {
  const processes = new ListenerProcesses(settings);
  try {
    await processes.current().ready;
  } catch (cause) {
    await processes.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The package @livekit/rtc-node cannot be loaded on this system: ${reason}`, { cause });
  }
  return {
    join: async (request) => {
      const { url, sampleRate } = settings;
      const token = agentToken(settings, request);
      try {
        return await processes.join(request, { url, token, sampleRate });
      } catch (error) {
        const reason = messageOf(error);
        throw new ServiceError('media-server-unavailable', 'The room cannot be joined to listen.', {
          cause: new Error(hideTokens(reason)),
          retryable: true,
        });
      }
    },
    close: () => processes.close(),
  };
}

class ListenerProcesses {
  readonly #settings: RoomAudioSubscriberSettings;
  readonly #running = new Set<RoomAudioProcess>();
  #current: RoomAudioProcess | undefined;

  constructor(settings: RoomAudioSubscriberSettings) {
    this.#settings = settings;
  }

  /** Returns the process that takes the next connection. */
  current(): RoomAudioProcess {
    if (this.#current === undefined || this.#current.isLost) this.#current = this.#start();
    return this.#current;
  }

  async join(request: JoinRequest, room: RoomAddress): Promise<RoomConnection> {
    const process = this.current();
    const joining = process.join(request, room);
    // Starts the next process now, so that no caller waits for it.
    if (process.isFull) this.#current = this.#start();
    return await joining;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((process) => process.close()));
  }

  #start(): RoomAudioProcess {
    const { log, program, connectionsPerProcess = CONNECTIONS_PER_PROCESS } = this.#settings;
    const started = new RoomAudioProcess({ program, maxJoins: connectionsPerProcess });
    const { pid } = started;
    this.#running.add(started);
    log.debug({ pid }, 'a process that listens to rooms has started');
    void started.ended.then(() => {
      this.#running.delete(started);
      if (started.isLost) log.error({ pid }, 'a process that listens to rooms has ended unexpectedly');
      else log.debug({ pid }, 'a process that listens to rooms has ended');
    });
    return started;
  }
}

/** A hidden agent is neither listed nor counted, and does not keep a room open. */
function agentToken({ tokenSigner, clock }: RoomAudioSubscriberSettings, request: JoinRequest): string {
  const issuedAt = Math.floor(clock.now() / 1000);
  return tokenSigner.sign({
    room: request.room,
    identity: request.identity,
    name: 'Transcription',
    kind: 'agent',
    metadata: undefined,
    attributes: {},
    grants: {
      hidden: true,
      agent: true,
      canPublish: false,
      canSubscribe: true,
      canPublishData: true,
      canUpdateOwnMetadata: false,
      roomAdmin: false,
    },
    issuedAt,
    expiresAt: issuedAt + TOKEN_SECONDS,
  });
}

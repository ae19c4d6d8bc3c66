import { type ChildProcess, fork } from 'node:child_process';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../clock.ts';
import { type Log, toMessage } from '../log.ts';
import { hideTokens } from './errors.ts';
import type {
  AudioTrack,
  Caption,
  JoinRequest,
  ListenerMessage,
  ListenerRequest,
  RoomAddress,
  RoomAudioSubscriber,
  RoomConnection,
} from './room-audio.ts';
import type { TokenSigner } from './token-signer.ts';

/*
 * Listens to rooms in child processes. LiveKit's room client keeps about half a megabyte of native memory for each
 * connection that it ever had, and cannot free it. Therefore a process takes a limited number of connections; then another
 * process takes the next ones, and the first one ends with the last of its rooms. A crash of the client's native code ends
 * such a process and not the worker.
 */

type RoomAudioSubscriberSettings = {
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
        const reason = toMessage(error);
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

type RoomAudioProcessSettings = {
  /** File of the process. */
  readonly program: string;
  /** After this many joins, failed ones included, the process ends as soon as it listens to no room. */
  readonly maxJoins: number;
};

/** A child process with the rooms that it listens to, and their tracks. */
class RoomAudioProcess {
  readonly #child: ChildProcess;
  readonly #connections = new Map<number, OpenConnection>();
  readonly #tracks = new Map<number, OpenTrack>();
  readonly #captions = new Map<number, PromiseWithResolvers<void>>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #maxJoins: number;
  #numbers = 0;
  #joins = 0;
  #isEnding = false;

  constructor({ program, maxJoins }: RoomAudioProcessSettings) {
    this.#maxJoins = maxJoins;
    this.#child = fork(program, [], {
      serialization: 'advanced',
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: ListenerMessage) => this.#receive(message));
    this.#child.once('error', (error) => this.#end(error.message));
    this.#child.once('exit', (code, signal) => this.#end(signal ?? `exit code ${code}`));
    // A caller may wait for `ready` later, or never.
    this.#ready.promise.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether the process may not join another room. */
  get isFull(): boolean {
    return this.#joins >= this.#maxJoins;
  }

  /** Whether the process has ended unexpectedly. */
  get isLost(): boolean {
    return !this.#isEnding && (this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  /** Rejects when the process cannot be used. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Rejects with an Error that has the room client's reason. */
  async join(request: JoinRequest, room: RoomAddress): Promise<RoomConnection> {
    this.#joins += 1;
    const connection = this.#nextNumber();
    const open: OpenConnection = {
      request,
      joined: Promise.withResolvers(),
      left: Promise.withResolvers(),
      tracks: new Set(),
    };
    this.#connections.set(connection, open);
    await this.#ready.promise;
    this.#send({ kind: 'join', connection, room });
    await open.joined.promise;
    return {
      sendCaption: (caption) => this.#caption(connection, caption),
      leave: async () => {
        if (!this.#connections.has(connection)) return;
        open.isLeaving = true;
        this.#send({ kind: 'leave', connection });
        await open.left.promise;
      },
    };
  }

  async close(): Promise<void> {
    this.#kill();
    await this.#ended.promise;
  }

  /** Kills the process. All connections have been left properly before, so that nothing is lost. */
  #kill(): void {
    this.#isEnding = true;
    this.#child.kill('SIGKILL');
  }

  #nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  /**
   * Sends a message. A message to a process that has ended is lost; `#end` rejects everything that waits for a response.
   */
  #send(request: ListenerRequest): void {
    if (this.#child.connected) this.#child.send(request, () => {});
  }

  async #caption(connection: number, caption: Caption): Promise<void> {
    if (!this.#connections.has(connection)) throw new Error('The connection to the room has ended.');
    const id = this.#nextNumber();
    const sent = Promise.withResolvers<void>();
    this.#captions.set(id, sent);
    this.#send({ kind: 'caption', connection, id, caption });
    await sent.promise;
  }

  #receive(message: ListenerMessage): void {
    if (message.kind === 'samples') this.#tracks.get(message.track)?.push(message.samples);
    else if (message.kind === 'name') this.#tracks.get(message.track)?.rename(message.name);
    else if (message.kind === 'track') this.#openTrack(message);
    else if (message.kind === 'track-ended') this.#endTrack(message.track);
    else if (message.kind === 'caption-sent') this.#endCaption(message.id, message.error);
    else if (message.kind === 'ready') this.#ready.resolve();
    else if (message.kind === 'unusable') this.#giveUp(message.reason);
    else this.#changeConnection(message);
  }

  #giveUp(reason: string): void {
    this.#ready.reject(new Error(reason));
    this.#child.kill('SIGKILL');
  }

  #changeConnection(message: Extract<ListenerMessage, { connection: number; kind: ConnectionChange }>): void {
    const open = this.#connections.get(message.connection);
    if (open === undefined) return;
    if (message.kind === 'joined') open.joined.resolve();
    else if (message.kind === 'closed') this.#close(open);
    else {
      this.#connections.delete(message.connection);
      for (const track of open.tracks) this.#endTrack(track);
      open.joined.reject(new Error(message.kind === 'refused' ? message.reason : 'The room was left.'));
      open.left.resolve();
      if (this.isFull && this.#connections.size === 0) this.#kill();
    }
  }

  #close(open: OpenConnection): void {
    if (!open.isLeaving) open.request.onClosed();
  }

  #openTrack({ connection, track, trackId, identity }: Extract<ListenerMessage, { kind: 'track' }>): void {
    const open = this.#connections.get(connection);
    if (open === undefined) return;
    const opened = openTrack(trackId, identity);
    open.tracks.add(track);
    this.#tracks.set(track, opened);
    open.request.onTrack(opened.track);
  }

  #endTrack(track: number): void {
    this.#tracks.get(track)?.end();
    this.#tracks.delete(track);
  }

  #endCaption(id: number, error: string | undefined): void {
    const sent = this.#captions.get(id);
    this.#captions.delete(id);
    if (error === undefined) sent?.resolve();
    else sent?.reject(new Error(error));
  }

  /** Handles the end of the process, or a failed start: all of its connections have ended too. */
  #end(reason: string): void {
    const lost = new Error(`The process of the room client has ended: ${reason}.`);
    this.#ready.reject(lost);
    for (const track of this.#tracks.keys()) this.#endTrack(track);
    for (const id of this.#captions.keys()) this.#endCaption(id, lost.message);
    const open = [...this.#connections.values()];
    this.#connections.clear();
    for (const connection of open) {
      connection.joined.promise.catch(() => {});
      connection.joined.reject(lost);
      connection.left.resolve();
      this.#close(connection);
    }
    this.#ended.resolve();
  }
}

type ConnectionChange = 'joined' | 'refused' | 'closed' | 'left';

type OpenConnection = {
  readonly request: JoinRequest;
  readonly joined: PromiseWithResolvers<void>;
  readonly left: PromiseWithResolvers<void>;
  readonly tracks: Set<number>;
  isLeaving?: boolean;
};

type OpenTrack = {
  readonly track: AudioTrack;
  readonly push: (samples: Int16Array) => void;
  readonly rename: (name: string) => void;
  readonly end: () => void;
};

function openTrack(trackId: string, identity: string): OpenTrack {
  let current = '';
  let stream: ReadableStreamDefaultController<Float32Array> | undefined;
  const audio = new ReadableStream<Float32Array>({
    start: (controller) => {
      stream = controller;
    },
    cancel: () => {
      stream = undefined;
    },
  });
  return {
    track: { trackId, identity, name: () => current, audio },
    push: (samples) => stream?.enqueue(Float32Array.from(samples, (sample) => sample / 32_768)),
    rename: (name) => {
      current = name;
    },
    end: () => {
      stream?.close();
      stream = undefined;
    },
  };
}

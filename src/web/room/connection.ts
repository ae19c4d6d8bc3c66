import {
  ConnectionError,
  ConnectionErrorReason,
  DisconnectReason,
  type Participant,
  Room,
  RoomEvent,
  Track,
  type TrackPublication,
} from 'livekit-client';
import { readClosing } from '../../contract/read-service-data.ts';
import type { Choices, Device } from './pre-join.tsx';
import {
  type Invitation,
  keepInvitation,
  PageError,
  readOccupancy,
  readSecondsLeft,
  requestToken,
} from './session.ts';
import { describeFullRoom, describeRefusal, LEFT, type Notice } from './words.ts';

/*
 * The connection of a call, and the truth about it. LiveKit's client resumes a connection for a quarter of a minute; after
 * that, this page goes on by itself with fresh tokens, because a media server that was started again knows nobody. Nothing
 * but an answer that will not change ends the call: whoever was removed, blocked, or left.
 */

export type CallState =
  | { readonly kind: 'connecting' | 'connected' }
  /** `since` is in the milliseconds of performance.now(). */
  | { readonly kind: 'lost'; readonly since: number };

type ConnectionDeps = {
  readonly invitation: Invitation;
  readonly choices: Choices;
  readonly onState: (state: CallState) => void;
  /** Called when the service has said when it will close the room, in the milliseconds of performance.now(). */
  readonly onClosing: (closesAt: number) => void;
  readonly onEnd: (notice: Notice) => void;
  readonly onDeviceFailure: (error: Error) => void;
};

/** LiveKit's client gives up after this time, and the page connects anew. */
const RESUMES_FOR_MS = 12_000;
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000, 5_000];

/** Two probes without an answer are a lost connection: at most 4.5 s after the media server stopped to answer. */
const PROBE_MS = 1_500;

/** Tokens last an hour by default; a fresh one is fetched long before that, for a reload. */
const REFRESH_MS = 10 * 60_000;

export class CallConnection {
  readonly room = new Room({
    adaptiveStream: true,
    dynacast: true,
    reconnectPolicy: {
      nextRetryDelayInMs: ({ retryCount, elapsedMs }) =>
        elapsedMs > RESUMES_FOR_MS ? null : (RETRY_DELAYS_MS[retryCount] ?? 5_000),
    },
  });
  readonly #deps: ConnectionDeps;
  #invitation: Invitation;
  #state: CallState = { kind: 'connecting' };
  #isOver = false;
  #isConnecting = false;
  #failedProbes = 0;
  #closesAt = Number.POSITIVE_INFINITY;
  /** Ends the waiting for the next attempt. */
  #wake: () => void = () => undefined;
  readonly #timers: readonly number[];
  /** The devices that the user wants to be published, for a connection that is made anew. */
  readonly #wanted: { microphone: boolean; camera: boolean };

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#invitation = deps.invitation;
    this.#wanted = { microphone: deps.choices.microphone.isOn, camera: deps.choices.camera.isOn };
    this.room
      .on(RoomEvent.Connected, () => this.#onConnected())
      .on(RoomEvent.Reconnected, () => this.#onConnected())
      .on(RoomEvent.SignalReconnecting, () => this.#lose())
      .on(RoomEvent.Reconnecting, () => this.#lose())
      .on(RoomEvent.Disconnected, (reason) => this.#onDisconnected(reason))
      .on(RoomEvent.DataReceived, (...[payload, participant, , topic, , identity]) => {
        const closing = readClosing(payload, { topic, participant, identity });
        if (closing !== undefined) this.#expectEnd(closing.secondsLeft);
      })
      .on(RoomEvent.TrackMuted, (publication, participant) => this.#remember(publication, participant))
      .on(RoomEvent.TrackUnmuted, (publication, participant) => this.#remember(publication, participant))
      .on(RoomEvent.LocalTrackPublished, (publication, participant) =>
        this.#remember(publication, participant),
      );
    this.#timers = [
      window.setInterval(() => void this.#probe(), PROBE_MS),
      window.setInterval(() => void this.#refresh(), REFRESH_MS),
    ];
    void this.#connect();
  }

  /** Tries at once, instead of waiting. */
  retry(): void {
    this.#wake();
    // LiveKit's client waits by itself; a connection that is made anew replaces its attempts.
    if (this.#state.kind === 'lost' && this.room.state !== 'disconnected') void this.room.disconnect();
  }

  leave(): void {
    this.#end(LEFT);
  }

  /** Ends everything without telling anybody. */
  close(): void {
    this.#isOver = true;
    this.#wake();
    for (const timer of this.#timers) window.clearInterval(timer);
    void this.room.disconnect();
  }

  async #connect(): Promise<void> {
    this.#isConnecting = true;
    await this.#connectUntilJoined();
    this.#isConnecting = false;
  }

  async #connectUntilJoined(): Promise<void> {
    for (let attempt = 0; !this.#isOver; attempt += 1) {
      try {
        // The invitation's own token is fresh at the first attempt.
        if (attempt > 0 || this.#state.kind === 'lost') await this.#refresh();
        const { url, token } = this.#invitation;
        await this.room.connect(url, token, { maxRetries: 0 });
        void this.#publish();
        return;
      } catch (error) {
        if (this.#isOver) return;
        const notice = await this.#findEnd(error);
        if (notice !== undefined) return this.#end(notice);
        this.#lose();
      }
      await this.#pause(RETRY_DELAYS_MS[attempt] ?? 5_000);
    }
  }

  /** Returns what ends the call; undefined for what may pass, such as a media server that does not answer. */
  async #findEnd(error: unknown): Promise<Notice | undefined> {
    if (error instanceof PageError) return isPassing(error) ? undefined : describeRefusal(error);
    const occupancy = await readOccupancy(this.#invitation).catch(() => undefined);
    if (occupancy !== undefined) {
      // LiveKit answers a join of a full room with 500 and no reason.
      const { people, maxParticipants } = occupancy;
      if (maxParticipants > 0 && people >= maxParticipants) return describeFullRoom(people, maxParticipants);
    }
    if (error instanceof ConnectionError && error.reason === ConnectionErrorReason.NotAllowed) {
      return { title: 'The media server refused you.', action: 'Try again' };
    }
    return undefined;
  }

  async #publish(): Promise<void> {
    const { choices, onDeviceFailure } = this.#deps;
    const { localParticipant: me } = this.room;
    const { microphone, camera } = this.#wanted;
    if (microphone)
      await me.setMicrophoneEnabled(true, readDevice(choices.microphone)).catch(onDeviceFailure);
    if (camera) await me.setCameraEnabled(true, readDevice(choices.camera)).catch(onDeviceFailure);
  }

  #remember(publication: TrackPublication, participant: Participant): void {
    if (!participant.isLocal || this.#state.kind !== 'connected') return;
    if (publication.source === Track.Source.Microphone) this.#wanted.microphone = !publication.isMuted;
    if (publication.source === Track.Source.Camera) this.#wanted.camera = !publication.isMuted;
  }

  #onConnected(): void {
    this.#enter({ kind: 'connected' });
    // Warnings are sent once: whoever joins later, or was away, asks for the last one.
    readSecondsLeft(this.#invitation).then(
      (secondsLeft) => secondsLeft !== undefined && this.#expectEnd(secondsLeft),
      () => undefined,
    );
  }

  #expectEnd(secondsLeft: number): void {
    if (this.#isOver) return;
    // The clock of this machine may be wrong.
    this.#closesAt = performance.now() + secondsLeft * 1_000;
    this.#deps.onClosing(this.#closesAt);
  }

  #onDisconnected(reason: DisconnectReason | undefined): void {
    if (this.#isOver) return;
    const notice = describeEnd(reason, this.#closesAt);
    if (notice !== undefined) {
      this.#end(notice);
    } else if (!this.#isConnecting) {
      this.#lose();
      void this.#connect();
    }
  }

  /** Asks the media server for anything: any answer at all shows that it is there. */
  async #probe(): Promise<void> {
    if (this.#isOver || this.room.state !== 'connected') return;
    const url = this.#invitation.url.replace(/^ws/, 'http');
    const isThere = await fetch(url, {
      mode: 'no-cors',
      cache: 'no-store',
      signal: AbortSignal.timeout(PROBE_MS),
    }).then(
      () => true,
      () => false,
    );
    if (this.#isOver || this.room.state !== 'connected') return;
    this.#failedProbes = isThere ? 0 : this.#failedProbes + 1;
    if (isThere) this.#enter({ kind: 'connected' });
    else if (this.#failedProbes >= 2) this.#lose();
  }

  /** LiveKit renews the token of a connection by itself; this one is for a reload, and for a new connection. */
  async #refresh(): Promise<void> {
    try {
      const fresh = await requestToken(this.#invitation);
      // Whoever is in the call since before the room had a lobby stays.
      if (fresh.waiting === true) return;
      this.#invitation = fresh;
      keepInvitation(fresh);
    } catch (error) {
      // A page that nobody serves any more goes on with its last token for as long as that is accepted.
      if (!(error instanceof PageError) || !isPassing(error)) throw error;
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = window.setTimeout(resolve, milliseconds);
    await promise;
    window.clearTimeout(timer);
  }

  #enter(state: CallState): void {
    if (this.#isOver || this.#state.kind === state.kind) return;
    this.#state = state;
    this.#deps.onState(state);
  }

  #lose(): void {
    this.#enter({ kind: 'lost', since: performance.now() });
  }

  #end(notice: Notice): void {
    if (this.#isOver) return;
    this.close();
    this.#deps.onEnd(notice);
  }
}

function readDevice({ id }: Device) {
  return id === undefined ? undefined : { deviceId: id };
}

/** Returns whether asking again may help: nobody refused, but something could not be reached. */
function isPassing({ code }: PageError): boolean {
  return ['page-ended', 'unreachable', 'timed-out', 'media-unavailable', 'rate-limited'].includes(code);
}

/** The last warning is rounded, and closing takes a moment. */
const ROUNDED_MS = 2_000;

/** Undefined for a connection that was lost. */
function describeEnd(reason: DisconnectReason | undefined, closesAt: number): Notice | undefined {
  switch (reason) {
    case DisconnectReason.PARTICIPANT_REMOVED:
      return { title: 'A host removed you from the room.', action: 'Join again' };
    case DisconnectReason.ROOM_DELETED:
    case DisconnectReason.ROOM_CLOSED:
      return performance.now() < closesAt - ROUNDED_MS
        ? { title: 'The room was closed.', action: 'Join again' }
        : { title: 'The time of this call is over.', action: 'Join again' };
    case DisconnectReason.DUPLICATE_IDENTITY:
      return { title: 'You have joined from another tab or device.', action: 'Come back here' };
    default:
      return undefined;
  }
}

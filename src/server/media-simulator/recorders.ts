import { posix } from 'node:path';
import {
  DisconnectReason,
  EgressInfo,
  EgressSourceType,
  EgressStatus,
  type EncodedFileOutput,
  FileInfo,
  ParticipantInfo_Kind,
  ParticipantPermission,
  type RoomCompositeEgressRequest,
  SegmentedFileOutput,
  SegmentsInfo,
  type StreamInfo,
  StreamInfo_Status,
  type UpdateStreamRequest,
} from '@livekit/protocol';
import {
  fileOutput,
  newStream,
  redactRequest,
  storagePath,
  storeFile,
  UnsupportedOutputError,
} from './recorder-outputs.ts';
import type { Rooms } from './rooms.ts';
import { runLater, type SimulatorContext } from './settings.ts';
import { silentMp4 } from './silent-mp4.ts';
import type { EventStream, MediaEvent } from './webhooks.ts';

/*
 * A room composite is one MP4 file, or a broadcast: streams to RTMP or SRT servers, HLS, or both. No media is sent to the
 * servers: each accepts, unless its host is in the fault `refusedHosts`, until `failStream` ends it.
 *
 * The lifecycle of a room composite, as in livekit/egress:
 *   STARTING  Accepted. The recorder joins the room with the egress id as its identity, and waits for a track.
 *   ACTIVE    Recording.
 *   ENDING    Stopped, or removed from the room (a closing room removes everyone). Writes its file.
 *   COMPLETE  The file is stored.
 *   ABORTED   Stopped while STARTING, without a file.
 *   FAILED    Recording or storing failed.
 * STARTING emits egress_started, ACTIVE and ENDING emit egress_updated, the last three emit egress_ended.
 */

type Run = {
  readonly info: EgressInfo;
  readonly output: EncodedFileOutput | undefined;
  /** Times of the media; part of the record of a recording. */
  readonly file: FileInfo;
  readonly hls: SegmentedFileOutput | undefined;
  /** The URLs of the open streams, with their records. */
  readonly streams: Map<string, StreamInfo>;
  isDead: boolean;
  /** Whether its streams have come to a halt. */
  isStuck: boolean;
  hasBrowser: boolean;
};

export function isOver({ status }: EgressInfo): boolean {
  return status >= EgressStatus.EGRESS_COMPLETE;
}

type RecorderParts = {
  readonly rooms: Rooms;
  readonly events: EventStream;
  readonly recordingDir: string | undefined;
};

export class Recorders {
  readonly #context: SimulatorContext;
  readonly #parts: RecorderParts;
  readonly #runs = new Map<string, Run>();
  /** Runs that wait for the first published track of their room. */
  readonly #waiting = new Set<Run>();

  constructor(context: SimulatorContext, parts: RecorderParts) {
    this.#context = context;
    this.#parts = parts;
    parts.events.subscribe((event) => this.#follow(event));
  }

  start(request: RoomCompositeEgressRequest): EgressInfo {
    const { clock, ids, timings } = this.#context;
    const { rooms, events } = this.#parts;
    const run = newRun(request, {
      egressId: `EG_${ids.next()}`,
      roomId: rooms.find(request.roomName)?.info.sid ?? '',
      now: clock.now(),
    });
    this.#runs.set(run.info.egressId, run);
    events.emit({ event: 'egress_started', egressInfo: run.info });
    runLater(this.#context, { ms: timings.recorderJoinMs }, () => {
      this.#join(run);
      this.#activateWhenPublished(run);
    });
    return run.info;
  }

  find(egressId: string): Run | undefined {
    return this.#runs.get(egressId);
  }

  list(): readonly EgressInfo[] {
    return [...this.#runs.values()].map(({ info }) => info);
  }

  /** Requires a run whose recorder is alive. */
  stop(run: Run): void {
    if (run.info.status !== EgressStatus.EGRESS_ENDING) this.#finish(run, 'StopEgress API');
  }

  /** Adds and removes URLs of a broadcast. Throws UnsupportedOutputError for a run without any. */
  update(run: Run, { addOutputUrls, removeOutputUrls }: UpdateStreamRequest): void {
    const { streamResults } = run.info;
    if (streamResults.length === 0)
      throw new UnsupportedOutputError('UpdateStream called on non-streaming egress');
    for (const url of addOutputUrls) {
      const stream = newStream(url);
      streamResults.push(stream);
      // The message keeps a copy.
      run.streams.set(url, streamResults.at(-1) ?? stream);
    }
    for (const url of removeOutputUrls) this.#endStream(run, url, { status: StreamInfo_Status.FINISHED });
    if (run.info.status === EgressStatus.EGRESS_ACTIVE) this.#connect(run, addOutputUrls);
    this.#parts.events.emit({ event: 'egress_updated', egressInfo: run.info });
  }

  failStream(egressId: string, host: string): void {
    const run = this.#get(egressId);
    const urls = [...run.streams.keys()].filter((url) => new URL(url).hostname === host);
    this.#fail(run, urls, 'the receiver closed the connection');
  }

  reconnectStream(egressId: string, host: string, outcome: 'connected' | 'stuck'): void {
    const run = this.#get(egressId);
    run.isStuck = outcome === 'stuck';
    const lastRetryAt = nanoseconds(this.#context.clock.now());
    for (const [url, stream] of run.streams)
      if (new URL(url).hostname === host) Object.assign(stream, { retries: stream.retries + 1, lastRetryAt });
    this.#parts.events.emit({ event: 'egress_updated', egressInfo: run.info });
  }

  #connect(run: Run, urls: readonly string[]): void {
    if (run.isStuck) return;
    const { clock, faults } = this.#context;
    const isRefused = (url: string): boolean => {
      const { hostname, port } = new URL(url);
      return port === DISCARD_PORT || faults().refusedHosts.includes(hostname);
    };
    for (const url of urls) {
      const stream = run.streams.get(url);
      if (stream !== undefined && !isRefused(url)) stream.startedAt = nanoseconds(clock.now());
    }
    this.#fail(run, urls.filter(isRefused), 'the receiver refused the connection');
  }

  #fail(run: Run, urls: readonly string[], error: string): void {
    if (urls.length === 0) return;
    for (const url of urls) this.#endStream(run, url, { status: StreamInfo_Status.FAILED, error });
    if (run.streams.size === 0 && run.hls === undefined) this.#end(run, EgressStatus.EGRESS_FAILED, error);
    else this.#parts.events.emit({ event: 'egress_updated', egressInfo: run.info });
  }

  #endStream(run: Run, url: string, end: Partial<StreamInfo>): void {
    const stream = run.streams.get(url);
    if (stream === undefined) return;
    run.streams.delete(url);
    Object.assign(stream, { ...end, endedAt: nanoseconds(this.#context.clock.now()) });
  }

  /** Ends the recorder's process. The server removes its participant later, and the egress keeps its state forever. */
  kill(egressId: string): void {
    this.#kill(this.#get(egressId));
  }

  /** Ends only the recorder's browser. Its participant leaves the room, and the egress continues until it is stopped. */
  closeBrowser(egressId: string): void {
    const run = this.#get(egressId);
    run.hasBrowser = false;
    this.#parts.rooms.leave(run.info.roomName, egressId, DisconnectReason.UNKNOWN_REASON);
  }

  /** Follows the tracks and participants of the rooms. */
  #follow(event: MediaEvent): void {
    if (event.event === 'track_published') {
      for (const run of this.#waiting) {
        if (run.info.roomName === event.room.name) this.#activateLater(run, this.#context.timings.activeMs);
      }
    }
    if (event.event !== 'participant_left') return;
    const run = this.#runs.get(event.participant.identity);
    const isRecording = run !== undefined && !run.isDead && run.hasBrowser && !isOver(run.info);
    if (isRecording && run.info.status !== EgressStatus.EGRESS_ENDING) this.#finish(run, 'Source closed');
  }

  #get(egressId: string): Run {
    const run = this.#runs.get(egressId);
    if (run === undefined) throw new Error(`no egress "${egressId}" runs`);
    return run;
  }

  #join(run: Run): void {
    if (run.isDead || isOver(run.info)) return;
    const { egressId: identity, roomName } = run.info;
    const joiner = { identity, kind: ParticipantInfo_Kind.EGRESS, permission: RECORDER_PERMISSION };
    this.#parts.rooms.join(roomName, joiner);
    // The start times in the start response and in the final record of a real recording differ by this much.
    run.info.startedAt += nanoseconds(START_SHIFT_MS);
  }

  #activateWhenPublished(run: Run): void {
    const { clock, timings } = this.#context;
    const sinceMs = clock.now() - Number(run.info.startedAt / NANOSECONDS_PER_MS);
    if (isPublishedIn(this.#parts.rooms, run.info.roomName)) {
      this.#activateLater(run, Math.max(0, timings.activeMs - sinceMs));
      return;
    }
    this.#waiting.add(run);
  }

  #activateLater(run: Run, ms: number): void {
    this.#waiting.delete(run);
    runLater(this.#context, { ms }, () => this.#activate(run));
  }

  #activate(run: Run): void {
    const { clock, timings, faults } = this.#context;
    if (run.info.status !== EgressStatus.EGRESS_STARTING || run.isDead) return;
    if (faults().recorder === 'failing') {
      run.info.details = 'End reason: Failure';
      this.#end(run, EgressStatus.EGRESS_FAILED, 'the embedded recorder was told to fail');
      return;
    }
    this.#touch(run, EgressStatus.EGRESS_ACTIVE);
    run.file.startedAt = nanoseconds(clock.now());
    this.#connect(run, [...run.streams.keys()]);
    if (isOver(run.info)) return;
    this.#parts.events.emit({ event: 'egress_updated', egressInfo: run.info });
    if (faults().recorder === 'dying')
      runLater(this.#context, { ms: timings.dyingMs }, () => this.#kill(run));
  }

  #kill(run: Run): void {
    run.isDead = true;
    this.#waiting.delete(run);
    const { roomName, egressId } = run.info;
    runLater(this.#context, { ms: this.#context.timings.recorderGoneMs }, () => {
      this.#parts.rooms.leave(roomName, egressId, DisconnectReason.UNKNOWN_REASON);
    });
  }

  #finish(run: Run, reason: string): void {
    this.#waiting.delete(run);
    run.info.details = `End reason: ${reason}`;
    if (run.info.status === EgressStatus.EGRESS_STARTING) {
      run.info.errorCode = 412;
      this.#end(run, EgressStatus.EGRESS_ABORTED, 'Stop called before pipeline could start');
      return;
    }
    this.#touch(run, EgressStatus.EGRESS_ENDING);
    run.file.endedAt = nanoseconds(this.#context.clock.now());
    run.file.duration = run.file.endedAt - run.file.startedAt;
    this.#parts.events.emit({ event: 'egress_updated', egressInfo: run.info });
    runLater(this.#context, { ms: this.#context.timings.finishMs }, () => this.#store(run));
  }

  async #store(run: Run): Promise<void> {
    if (run.isDead) return;
    for (const url of run.streams.keys()) this.#endStream(run, url, { status: StreamInfo_Status.FINISHED });
    if (run.output === undefined) return await this.#storeHls(run);
    const content = silentMp4(Number(run.file.duration / NANOSECONDS_PER_MS) + HELD_MS);
    try {
      run.file.location = await storeFile(run.output, content, this.#parts.recordingDir);
    } catch (error) {
      this.#end(run, EgressStatus.EGRESS_FAILED, error instanceof Error ? error.message : String(error));
      return;
    }
    run.file.size = BigInt(content.length);
    this.#end(run, EgressStatus.EGRESS_COMPLETE);
  }

  /** Stores both playlists, without segments, because there is no media. */
  async #storeHls(run: Run): Promise<void> {
    const { hls, info, file } = run;
    if (hls === undefined) return this.#end(run, EgressStatus.EGRESS_COMPLETE);
    const content = Buffer.from(EMPTY_PLAYLIST);
    const folder = posix.dirname(hls.playlistName);
    try {
      const playlistLocation = await storeFile(hls, content, this.#parts.recordingDir);
      const live = new SegmentedFileOutput({
        ...hls,
        playlistName: posix.join(folder, hls.livePlaylistName),
      });
      const livePlaylistLocation = await storeFile(live, content, this.#parts.recordingDir);
      const { playlistName, livePlaylistName } = hls;
      const size = BigInt(2 * content.length);
      info.segmentResults = [
        new SegmentsInfo({
          ...{ playlistName, livePlaylistName, playlistLocation, livePlaylistLocation, size },
          ...{ duration: file.duration, startedAt: file.startedAt, endedAt: file.endedAt },
        }),
      ];
    } catch (error) {
      return this.#end(
        run,
        EgressStatus.EGRESS_FAILED,
        error instanceof Error ? error.message : String(error),
      );
    }
    this.#end(run, EgressStatus.EGRESS_COMPLETE);
  }

  #end(run: Run, status: EgressStatus, error = ''): void {
    const { rooms, events } = this.#parts;
    this.#touch(run, status);
    run.info.endedAt = run.info.updatedAt;
    run.info.error = error;
    rooms.leave(run.info.roomName, run.info.egressId, DisconnectReason.CLIENT_INITIATED);
    events.emit({ event: 'egress_ended', egressInfo: run.info });
  }

  #touch({ info }: Run, status: EgressStatus): void {
    info.status = status;
    info.updatedAt = nanoseconds(this.#context.clock.now());
  }
}

const RECORDER_PERMISSION = new ParticipantPermission({ canSubscribe: true, hidden: true, recorder: true });

const NANOSECONDS_PER_MS = 1_000_000n;

const START_SHIFT_MS = 40;

/** Nobody listens there. */
const DISCARD_PORT = '9';

const EMPTY_PLAYLIST = '#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n';

/** Media that the recorder has buffered at its stop is in the file, but not in the reported duration. */
const HELD_MS = 600;

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms)) * NANOSECONDS_PER_MS;
}

type NewRun = { readonly egressId: string; readonly roomId: string; readonly now: number };

function newRun(request: RoomCompositeEgressRequest, { egressId, roomId, now }: NewRun): Run {
  const output = fileOutput(request);
  const file = new FileInfo({ filename: output === undefined ? '' : storagePath(output.filepath, 'mp4') });
  const urls = request.streamOutputs.flatMap((stream) => stream.urls);
  const info = new EgressInfo({
    egressId,
    roomId,
    roomName: request.roomName,
    sourceType: EgressSourceType.WEB,
    status: EgressStatus.EGRESS_STARTING,
    startedAt: nanoseconds(now),
    updatedAt: nanoseconds(now),
    request: { case: 'roomComposite', value: redactRequest(request) },
    fileResults: output === undefined ? [] : [file],
    streamResults: urls.map(newStream),
  });
  const streams = new Map(urls.flatMap((url, index) => [[url, info.streamResults[index] ?? newStream(url)]]));
  const hls = request.segmentOutputs[0];
  // The message keeps this object, so later changes to the file record appear in the egress record.
  return {
    info,
    output,
    hls,
    streams,
    file: info.fileResults[0] ?? file,
    isDead: false,
    isStuck: false,
    hasBrowser: true,
  };
}

function isPublishedIn(rooms: Rooms, name: string): boolean {
  const participants = rooms.find(name)?.participants.values() ?? [];
  return [...participants].some(({ tracks }) => tracks.length > 0);
}

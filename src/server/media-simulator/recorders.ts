import { writeFile } from 'node:fs/promises';
import { dirname, posix, resolve, sep } from 'node:path';
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
  type S3Upload,
} from '@livekit/protocol';
import { AwsClient } from 'aws4fetch';
import { makeFolder } from '../../folders/make-folder.ts';
import type { Rooms } from './rooms.ts';
import { runLater, type SimulatorContext } from './settings.ts';
import { silentMp4 } from './silent-mp4.ts';
import type { EventStream, MediaEvent } from './webhooks.ts';

/*
 * The lifecycle of a room composite, as in livekit/egress:
 *   STARTING  Accepted. The recorder joins the room with the egress id as its identity, and waits for a track.
 *   ACTIVE    Recording.
 *   ENDING    Stopped, or removed from the room (a closing room removes everyone). Writes its file.
 *   COMPLETE  The file is stored.
 *   ABORTED   Stopped while STARTING, without a file.
 *   FAILED    Recording or storing failed.
 * STARTING emits egress_started, ACTIVE and ENDING emit egress_updated, the last three emit egress_ended.
 */
export type Recorders = {
  readonly start: (request: RoomCompositeEgressRequest) => EgressInfo;
  readonly find: (egressId: string) => Run | undefined;
  readonly list: () => readonly EgressInfo[];
  /** Requires a run whose recorder is alive. */
  readonly stop: (run: Run) => void;
  /** Ends the recorder's process. The server removes its participant later, and the egress keeps its state forever. */
  readonly kill: (egressId: string) => void;
  /** Ends only the recorder's browser. Its participant leaves the room, and the egress continues until it is stopped. */
  readonly closeBrowser: (egressId: string) => void;
};

type Run = {
  readonly info: EgressInfo;
  readonly output: EncodedFileOutput;
  readonly file: FileInfo;
  isDead: boolean;
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

export function createRecorders(context: SimulatorContext, parts: RecorderParts): Recorders {
  const recorders = new EmbeddedRecorders(context, parts);
  parts.events.subscribe((event) => recorders.follow(event));
  return recorders;
}

class EmbeddedRecorders implements Recorders {
  readonly #context: SimulatorContext;
  readonly #parts: RecorderParts;
  readonly #runs = new Map<string, Run>();
  /** Runs that wait for the first published track of their room. */
  readonly #waiting = new Set<Run>();

  constructor(context: SimulatorContext, parts: RecorderParts) {
    this.#context = context;
    this.#parts = parts;
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

  stop(run: Run): void {
    if (run.info.status !== EgressStatus.EGRESS_ENDING) this.#finish(run, 'StopEgress API');
  }

  kill(egressId: string): void {
    this.#kill(this.#get(egressId));
  }

  closeBrowser(egressId: string): void {
    const run = this.#get(egressId);
    run.hasBrowser = false;
    this.#parts.rooms.leave(run.info.roomName, egressId, DisconnectReason.UNKNOWN_REASON);
  }

  /** Follows the tracks and participants of the rooms. */
  follow(event: MediaEvent): void {
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
    const content = silentMp4(Number(run.file.duration / NANOSECONDS_PER_MS) + HELD_MS);
    try {
      run.file.location = await storeRecording(run.output, content, this.#parts.recordingDir);
    } catch (error) {
      this.#end(run, EgressStatus.EGRESS_FAILED, error instanceof Error ? error.message : String(error));
      return;
    }
    run.file.size = BigInt(content.length);
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

/** Media that the recorder has buffered at its stop is in the file, but not in the reported duration. */
const HELD_MS = 600;

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms)) * NANOSECONDS_PER_MS;
}

type NewRun = { readonly egressId: string; readonly roomId: string; readonly now: number };

function newRun(request: RoomCompositeEgressRequest, { egressId, roomId, now }: NewRun): Run {
  const output = fileOutput(request);
  const file = new FileInfo({ filename: storagePath(output.filepath) });
  const info = new EgressInfo({
    egressId,
    roomId,
    roomName: request.roomName,
    sourceType: EgressSourceType.WEB,
    status: EgressStatus.EGRESS_STARTING,
    startedAt: nanoseconds(now),
    updatedAt: nanoseconds(now),
    request: { case: 'roomComposite', value: redacted(request) },
    fileResults: [file],
  });
  // The message keeps this object, so later changes to the file record appear in the egress record.
  return { info, output, file: info.fileResults[0] ?? file, isDead: false, hasBrowser: true };
}

/** Thrown before the start for a request that the simulated recorder cannot serve. */
export class UnsupportedOutputError extends Error {
  override readonly name = 'UnsupportedOutputError';
}

export function fileOutput({ fileOutputs, output }: RoomCompositeEgressRequest): EncodedFileOutput {
  const file = fileOutputs[0] ?? (output.case === 'file' ? output.value : undefined);
  if (file === undefined)
    throw new UnsupportedOutputError('the embedded recorder writes one MP4 file and nothing else');
  return file;
}

/** Listing an egress shows its request, so the credentials of the bucket are replaced, as LiveKit does. */
function redacted(request: RoomCompositeEgressRequest): RoomCompositeEgressRequest {
  const copy = request.clone();
  const file = fileOutput(copy);
  if (file.output.case === 's3') {
    file.output.value.accessKey = '{access_key}';
    file.output.value.secret = '{secret}';
    file.output.value.sessionToken = '';
  }
  return copy;
}

function isPublishedIn(rooms: Rooms, name: string): boolean {
  const participants = rooms.find(name)?.participants.values() ?? [];
  return [...participants].some(({ tracks }) => tracks.length > 0);
}

/** Normalises a requested path as a recorder does: without leading `../`, and with the extension of the file. */
function storagePath(asked: string): string {
  const path = posix.normalize(asked).replace(/^(\.\.\/)+/, '');
  return path.endsWith('.mp4') ? path : `${path}.mp4`;
}

/** Stores a finished recording in the requested location, and returns it. */
async function storeRecording(
  output: EncodedFileOutput,
  content: Buffer,
  recordingDir: string | undefined,
): Promise<string> {
  const path = storagePath(output.filepath);
  if (output.output.case === 's3') return upload(output.output.value, path, content);
  if (output.output.case !== undefined) {
    throw new Error(`the embedded recorder uploads to S3 only, not to ${output.output.case}`);
  }
  return write(path, content, recordingDir);
}

/** A real recorder runs on a machine of its own. This one shares the service's machine, so it writes to its folder only. */
async function write(path: string, content: Buffer, recordingDir: string | undefined): Promise<string> {
  if (recordingDir === undefined) {
    throw new Error(
      'the embedded recorder has no folder for recordings (recordingDir), and no bucket was given',
    );
  }
  const folder = resolve(recordingDir);
  const file = resolve(folder, path);
  if (!file.startsWith(folder + sep)) throw new Error('the path lies outside the folder for recordings');
  await makeFolder(dirname(file));
  await writeFile(file, content);
  return file;
}

async function upload(s3: S3Upload, path: string, content: Buffer): Promise<string> {
  const key = path.replace(/^\/+/, '');
  const url = objectUrl(s3, key);
  if (s3.accessKey === '') throw new Error('the embedded recorder has no keys of the bucket by itself');
  const client = new AwsClient({
    accessKeyId: s3.accessKey,
    secretAccessKey: s3.secret,
    ...(s3.sessionToken === '' ? {} : { sessionToken: s3.sessionToken }),
    region: s3.region === '' ? 'us-east-1' : s3.region,
    service: 's3',
    // The default of ten would keep an egress in EGRESS_ENDING for a minute.
    retries: 2,
  });
  const headers = { 'content-type': 'video/mp4', 'content-length': String(content.length) };
  const response = await client.fetch(url, { method: 'PUT', headers, body: new Uint8Array(content) });
  if (!response.ok) throw new Error(`the bucket responded with ${response.status} to the upload`);
  return url;
}

function objectUrl(s3: S3Upload, key: string): string {
  const escapedKey = key.split('/').map(encodeURIComponent).join('/');
  const endpoint = new URL(s3.endpoint === '' ? `https://s3.${s3.region}.amazonaws.com` : s3.endpoint);
  if (s3.forcePathStyle) {
    endpoint.pathname = posix.join(endpoint.pathname, s3.bucket, escapedKey);
  } else {
    endpoint.host = `${s3.bucket}.${endpoint.host}`;
    endpoint.pathname = posix.join(endpoint.pathname, escapedKey);
  }
  return endpoint.href;
}

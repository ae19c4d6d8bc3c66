import type { Clock } from '../platform/clock.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import type { FileLocation, RecordingFiles } from './files/recording-files.ts';
import { toEndedState } from './lifecycle.ts';
import { readMp4Duration } from './mp4-duration.ts';
import type { Recording } from './store.ts';

/*
 * The recorder reports the time from the start of its pipeline to the stop. The file also has the media that was buffered at
 * the stop, and is some tenths of a second longer. Therefore the duration is read from the file, if possible.
 *
 * The first stored duration counts. The event of the end has the stored one, and a later observation does not change it, so
 * that an event and the recording never contradict each other.
 */

export type MeasureDeps = {
  readonly clock: Clock;
  readonly recordingFiles: Pick<RecordingFiles, 'read'>;
  readonly log: Pick<Log, 'debug' | 'warn'>;
};

/** The media server waits in the meantime, and repeats an event after some seconds. */
const MEASURE_TIMEOUT_MS = 2_000;
/** A file is at most this much longer than its recorder ran, because of buffered media and clock errors. */
const PLAUSIBLE_MS = 60_000;

/**
 * Returns the egress with the duration of its file, if it has one. Never rejects: without the file the recorder's duration
 * counts.
 */
export async function measureEgress(
  deps: MeasureDeps,
  recording: Recording,
  egress: Egress,
): Promise<Egress> {
  const { file, status } = egress;
  // The length of HLS is known without reading it.
  if (recording.kind === 'broadcast') return egress;
  if (file === undefined || recording.durationMs !== null || toEndedState(status) !== 'stopped')
    return egress;
  const durationMs = await measureFile(deps, recording, file.sizeBytes);
  if (durationMs === undefined || durationMs > file.durationMs + PLAUSIBLE_MS) return egress;
  return { ...egress, file: { ...file, durationMs } };
}

/** Returns milliseconds; undefined, with a log line, when the file has no duration or cannot be read in time. */
export async function measureFile(
  deps: MeasureDeps,
  recording: Recording,
  sizeBytes: number,
): Promise<number | undefined> {
  const { clock, recordingFiles, log } = deps;
  const fields = { recordingId: recording.id };
  const reading = readMp4Duration(
    (start, length) => readBytes(recordingFiles, recording, { start, length }),
    sizeBytes,
  );
  try {
    const read = await withinTime(
      clock,
      reading.then((durationMs) => ({ durationMs })),
      MEASURE_TIMEOUT_MS,
    );
    if (read === undefined) throw new Error('the file was not read in time');
    const { durationMs } = read;
    if (durationMs === undefined) log.debug(fields, 'the file of a recording does not contain its duration');
    return durationMs;
  } catch (err) {
    // The read may still fail after its time limit.
    reading.catch(() => {});
    log.warn(
      { ...fields, err },
      'the duration of a recording is that of its recorder: its file cannot be read',
    );
    return undefined;
  }
}

type Part = { readonly start: number; readonly length: number };

async function readBytes(
  files: MeasureDeps['recordingFiles'],
  location: FileLocation,
  { start, length }: Part,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of await files.read(location, start, length)) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    // A storage that ignores the range must not fill the memory.
    if (size >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

/** Returns the result of `work`, or undefined when it takes longer than `ms` milliseconds. The work continues. */
export async function withinTime<T>(clock: Clock, work: Promise<T>, ms: number): Promise<T | undefined> {
  const timer = new AbortController();
  const timeUp = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    timer.abort();
  }
}

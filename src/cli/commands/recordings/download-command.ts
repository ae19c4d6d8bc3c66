import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Download } from '../../../client/transport/download.ts';
import { formatBytes, formatDuration } from '../../../contract/amounts.ts';
import { CancelledError, CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { defineCommand, existing, flag, optionalArgument } from '../../framework/parameters.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';
import { createProgressLine, drawBar } from '../../terminal/status-line.ts';
import { printStatus } from '../../terminal/terminal.ts';

/*
 * A download is written beside its target as `<target>.<recording id>.part`, and renamed when it is complete: a file with
 * the target's name is complete. A recording never changes, so a part with its id is the beginning of its file, and the next
 * run continues after it.
 */

export const download = defineCommand({
  verb: 'download',
  summary: 'Download the file of a recording',
  description:
    'Writes to ID.mp4, unless you name a file or folder; - writes to stdout. Prints the path. To continue a download that broke off, run the same command again.',
  fields: ['file', 'sizeBytes'],
  arguments: {
    id: existing('id of the recording', 'recordings'),
    file: optionalArgument('file or folder to write, or - for stdout', { completes: 'files' }),
  },
  options: {
    force: flag('-f, --force', 'overwrite the file, or write to a terminal'),
    withCaptions: flag('--with-captions', 'add its completed transcripts as subtitles; needs ffmpeg'),
  },
  examples: [
    { line: 'rtc recordings download EG_tH8vdkRoTDWY', does: 'Into EG_tH8vdkRoTDWY.mp4' },
    {
      line: 'rtc recordings download EG_tH8vdkRoTDWY lesson.mp4 --force',
      does: 'Overwrite an existing file',
    },
    { line: 'rtc recordings download EG_tH8vdkRoTDWY --with-captions', does: 'With subtitles in the file' },
    { line: 'rtc recordings download EG_tH8vdkRoTDWY - | ffmpeg -i - lesson.mp3', does: 'Only the sound' },
  ],
  async run(context, { id, file, force, withCaptions }) {
    if (file === '-') {
      if (withCaptions) throw usageError('captions need a file and cannot be added to stdout', 'name a file');
      return await toStdout(context, { id, isForced: force });
    }
    const client = await context.client();
    const { signal } = context.io;
    // With --curl only the request of the download is printed.
    const known = context.flags.isCurl ? undefined : await client.recordings.get(id, { signal });
    const target = await chooseTarget(context, { id: known?.recordingId ?? id, file, isForced: force });
    const captions = await (withCaptions ? readCaptions(context, id) : undefined);
    const downloaded = await saveFile(context, target, (from) =>
      client.recordings.download(id, { from, signal }),
    );
    const notes = await captions?.add(target.path);
    const sizeBytes = notes === undefined ? downloaded : (await stat(target.path)).size;
    return text(target.path, {
      response: { file: target.path, sizeBytes },
      notes: [formatBytes(sizeBytes), ...(notes ?? [])],
    });
  },
});

/** Checks captions and ffmpeg before the download. `add` returns notes on what was added. */
async function readCaptions(context: Context, id: string) {
  const { addCaptions, readCaptions, requireFfmpeg } = await import('./add-captions.ts');
  if (!context.flags.isCurl) await requireFfmpeg(context.io);
  const captions = await readCaptions(context, id);
  return {
    add: async (path: string): Promise<readonly string[]> => {
      if (captions.length === 0) return ['Nothing was said, so the file has no captions.'];
      await addCaptions(context.io, path, captions);
      return [`Captions: ${captions.map(({ language }) => language).join(', ')}`];
    },
  };
}

type StdoutRequest = { readonly id: string; readonly isForced: boolean };

async function toStdout(context: Context, { id, isForced }: StdoutRequest): Promise<Result> {
  const { io, terminal } = context;
  if (terminal.isTerminal && !isForced) {
    throw usageError(
      'stdout is a terminal, and a recording is not text',
      'name a file, or pipe it somewhere',
    );
  }
  const client = await context.client();
  const { body, sizeBytes } = await client.recordings.download(id, { signal: io.signal });
  const bar = createProgressLine(io);
  const counted = async function* () {
    let done = 0;
    for await (const chunk of body) {
      done += chunk.length;
      bar.show((seconds) => transferLine({ from: 0, done, sizeBytes, seconds }));
      yield chunk;
    }
  };
  let isStdoutBroken = false;
  const noteBroken = (): void => {
    isStdoutBroken = true;
  };
  io.stdout.once('error', noteBroken);
  try {
    await pipeline(Readable.from(counted()), io.stdout, { end: false });
  } catch (error) {
    // main reports a full disk, and ignores a reader that is gone.
    if (!isStdoutBroken) throw error;
  } finally {
    io.stdout.off('error', noteBroken);
    bar.clear();
  }
  return nothing();
}

type Target = { readonly path: string; readonly part: string };

/** @throws CliError with exit code 5 when the file exists, 1 when its folder does not */
async function chooseTarget(
  context: Context,
  {
    id,
    file,
    isForced,
  }: { readonly id: string; readonly file: string | undefined; readonly isForced: boolean },
): Promise<Target> {
  // Servers choose ids, so only plain characters of them become part of a path.
  const safeId = id.replace(/[^\w-]/g, '_');
  const requestedPath = resolve(context.io.workingDirectory, file ?? `${safeId}.mp4`);
  const isFolder = (await stat(requestedPath).catch(undefinedWhenMissing))?.isDirectory() === true;
  const path = isFolder ? join(requestedPath, `${safeId}.mp4`) : requestedPath;
  const found = await stat(path).catch(undefinedWhenMissing);
  if (found !== undefined && !(isForced && found.isFile())) {
    throw new CliError(
      EXIT.conflict,
      `${path} already exists`,
      found.isFile() ? 'add --force to overwrite it, or name another file' : 'name another file',
    );
  }
  if ((await stat(dirname(path)).catch(undefinedWhenMissing))?.isDirectory() !== true) {
    throw new CliError(
      EXIT.failure,
      `the folder ${dirname(path)} does not exist`,
      'create it, or name another file',
    );
  }
  return { path, part: `${path}.${safeId}.part` };
}

type Fetch = (from: number) => Promise<Download>;

/** Downloads the file and returns its size. */
async function saveFile(context: Context, target: Target, fetch: Fetch): Promise<number> {
  const kept = (await stat(target.part).catch(undefinedWhenMissing))?.size ?? 0;
  if (kept > 0)
    printStatus(context.terminal, `Continuing after ${formatBytes(kept)}, which are already here.`);
  await receive(context, target, await fetchAfter(kept, fetch));
  await rename(target.part, target.path);
  return (await stat(target.path)).size;
}

/**
 * Continues from the last existing byte, because nothing follows a complete part. Starts again when the part is longer than
 * the file.
 */
async function fetchAfter(kept: number, fetch: Fetch): Promise<Download> {
  try {
    return await fetch(Math.max(0, kept - 1));
  } catch (error) {
    const isBehindTheEnd = error instanceof RtcError && error.status === RANGE_NOT_SATISFIABLE && kept > 0;
    if (!isBehindTheEnd) throw error;
    return await fetch(0);
  }
}

const RANGE_NOT_SATISFIABLE = 416;

async function receive(context: Context, target: Target, download: Download): Promise<void> {
  const handle = await open(target.part, download.start === 0 ? 'w' : 'r+');
  try {
    await handle.truncate(download.start);
    await write(context, target, { handle, download });
  } finally {
    await handle.close();
  }
}

async function write(
  context: Context,
  target: Target,
  { handle, download }: { readonly handle: FileHandle; readonly download: Download },
): Promise<void> {
  const { start, sizeBytes, body } = download;
  const bar = createProgressLine(context.io);
  let done = start;
  try {
    for await (const chunk of body) {
      await writeAll(handle, chunk, done);
      done += chunk.length;
      bar.show((seconds) => transferLine({ from: start, done, sizeBytes, seconds }));
    }
  } catch (error) {
    bar.clear();
    if (context.io.signal.aborted)
      throw new CancelledError(`stopped; run the command again to continue after ${formatBytes(done)}`);
    throw error instanceof RtcError ? brokenOff(target, done, error) : error;
  }
  bar.clear();
  if (sizeBytes !== undefined && done !== sizeBytes) throw brokenOff(target, done);
}

/** Repeats partial writes. */
async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, position + written);
    written += bytesWritten;
  }
}

function brokenOff({ part }: Target, done: number, cause?: RtcError): CliError {
  const reason = cause === undefined ? 'the connection ended early' : cause.detail;
  return new CliError(EXIT.unavailable, `the download broke off after ${formatBytes(done)}: ${reason}`, {
    next: `run the command again to continue; the part that arrived is kept in ${part}`,
    cause,
  });
}

function undefinedWhenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

export type Transfer = {
  /** Bytes that were on disk before the transfer began. */
  readonly from: number;
  readonly done: number;
  readonly sizeBytes: number | undefined;
  /** Seconds since the beginning. */
  readonly seconds: number;
};

export function transferLine({ from, done, sizeBytes, seconds }: Transfer): string {
  const perSecond = seconds <= 0 ? 0 : (done - from) / seconds;
  const speed = perSecond === 0 ? [] : [`${formatBytes(Math.round(perSecond))}/s`];
  if (sizeBytes === undefined || sizeBytes === 0) return [formatBytes(done), ...speed].join('  ');
  const share = Math.min(1, done / sizeBytes);
  const left = perSecond === 0 ? [] : [`${formatDuration(Math.ceil((sizeBytes - done) / perSecond))} left`];
  const amount = `${formatBytes(done)} of ${formatBytes(sizeBytes)}`;
  return [drawBar(share), amount, ...speed, ...left].join('  ');
}

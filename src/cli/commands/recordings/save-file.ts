import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Download } from '../../../client/transport/download.ts';
import { formatBytes } from '../../../contract/amounts.ts';
import { CancelledError, CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { createTransferBar } from './transfer-bar.ts';

/*
 * A download is written beside its target as `<target>.<recording id>.part`, and renamed when it is complete: a file with
 * the target's name is complete. A recording never changes, so a part with its id is the beginning of its file, and the next
 * run continues after it.
 */

export type Target = { readonly path: string; readonly part: string };

/** @throws CliError with exit code 5 when the file exists, 1 when its folder does not */
export async function chooseTarget(
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

export type Fetch = (from: number) => Promise<Download>;

/** Downloads the file and returns its size. */
export async function saveFile(context: Context, target: Target, fetch: Fetch): Promise<number> {
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
  const bar = createTransferBar(context.io, { from: start, sizeBytes });
  let done = start;
  try {
    for await (const chunk of body) {
      await writeAll(handle, chunk, done);
      done += chunk.length;
      bar.show(done);
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

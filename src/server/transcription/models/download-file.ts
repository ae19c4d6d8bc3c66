import { copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';

/*
 * Downloads one file, and continues an earlier download of it: `<target>.part` has the bytes received so far, and
 * `<target>.part.etag` the version of the file on the server. A server that has another version by now, or that cannot send
 * part of a file, sends the whole file.
 */

type Download = {
  readonly url: string;
  readonly target: string;
  /** A longer file is refused. */
  readonly mostBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: ByteProgress) => void;
};

export type ByteProgress = {
  readonly received: number;
  /** Undefined when the server does not say so. */
  readonly total: number | undefined;
};

/** Pauses after attempts that ended in the middle. After an attempt that received enough, the first pause is next. */
const PAUSES_MS = [1_000, 3_000, 10_000] as const;

/** A connection that brings less in this time is broken, and so is a server whose answers all end before. */
const STALL_MS = 30_000;
const MIN_PROGRESS_BYTES = 16_384;

/** Returns the path of the complete file. Rejects with the cause and what to do. The bytes received so far are kept. */
export async function downloadFile(download: Download): Promise<string> {
  const { target, clock, signal } = download;
  const part = `${target}.part`;
  for (let failures = 0; ; failures += 1) {
    const before = await readSize(part);
    try {
      await downloadRest(download, before);
      return part;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DownloadRefused) throw error;
      if ((await readSize(part)) - before >= MIN_PROGRESS_BYTES) failures = 0;
      const pauseMs = PAUSES_MS[failures];
      if (pauseMs === undefined) throw toDownloadError(download.url, error);
      await clock.sleep(pauseMs, signal);
    }
  }
}

/** Removes the files of a download when they are not needed any more. */
export async function discardDownload(target: string): Promise<void> {
  await rm(`${target}.part`, { force: true });
  await rm(`${target}.part.etag`, { force: true });
}

/** The server rejected the request, and would do so again. */
class DownloadRefused extends Error {
  override readonly name = 'DownloadRefused';
}

async function downloadRest(download: Download, received: number): Promise<void> {
  const { url, target, mostBytes, signal, onBytes } = download;
  const part = `${target}.part`;
  const etagFile = `${part}.etag`;
  const etag = await readFile(etagFile, 'utf8').catch(() => undefined);
  const isContinued = received > 0 && etag !== undefined;
  const stalled = new AbortController();
  const restartTimer = stallTimer(stalled);
  try {
    const headers = isContinued ? { range: `bytes=${received}-`, 'if-range': etag } : {};
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, stalled.signal]) });
    if (isContinued && response.status === 416) {
      await response.body?.cancel();
      if (readTotal(response) === received) return;
      await discardDownload(target);
      throw new Error('the file has changed on the server');
    }
    const body = await requireBody(response, url);
    const start = response.status === 206 ? received : 0;
    const total = readTotal(response);
    const current = response.headers.get('etag');
    if (total !== undefined && total > mostBytes) await body.cancel();
    await requireSize(download, total ?? start);
    if (start === 0) await writeOrRemove(etagFile, current);
    let bytes = start;
    let seen = start;
    const file = await open(part, start === 0 ? 'w' : 'a');
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        await requireSize(download, bytes);
        if (bytes - seen >= MIN_PROGRESS_BYTES) {
          seen = bytes;
          restartTimer();
        }
        await file.appendFile(chunk);
        onBytes({ received: bytes, total });
      }
    } finally {
      await file.close();
    }
    if (total !== undefined && bytes < total) throw new Error(`only ${bytes} of ${total} bytes arrived`);
  } finally {
    restartTimer.stop();
  }
}

async function requireBody(response: Response, url: string) {
  if (response.ok && response.body !== null) return response.body;
  await response.body?.cancel();
  const problem = `${url} responds with ${response.status}`;
  throw response.status >= 500 ? new Error(problem) : new DownloadRefused(`${problem}.`);
}

/** Discards a download that has become larger than its file can be. */
async function requireSize({ url, target, mostBytes }: Download, size: number): Promise<void> {
  if (size <= mostBytes) return;
  await discardDownload(target);
  throw new DownloadRefused(`${url} has more bytes than the ${mostBytes} that are expected at most.`);
}

function stallTimer(stalled: AbortController): (() => void) & { readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const restart = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => stalled.abort(new Error('hardly a byte arrived for 30 s')), STALL_MS);
  };
  restart();
  return Object.assign(restart, { stop: () => clearTimeout(timer) });
}

/** The size of the whole file: a partial response has it in Content-Range. */
function readTotal({ headers }: Response): number | undefined {
  const whole = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? headers.get('content-length');
  return whole === null ? undefined : Number(whole);
}

/** Without a strong ETag the rest may belong to another version of the file, so the download starts from the beginning. */
async function writeOrRemove(path: string, etag: string | null): Promise<void> {
  if (etag === null || etag.startsWith('W/')) await rm(path, { force: true });
  else await writeFile(path, etag);
}

async function readSize(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function toDownloadError(url: string, cause: unknown): Error {
  const deepest = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const reason = deepest instanceof Error ? deepest.message : String(deepest);
  return new Error(
    `Downloading ${url} failed: ${reason}. The part that arrived is kept, and the same command continues there. Without access to the internet, use a copy: --from FILE, FOLDER or URL.`,
    { cause },
  );
}

type CopiedFiles = {
  /** Source of the model, as in `--from`: an archive, a folder, or the address of a mirror. */
  readonly from: string;
  /** Paths of the files to write, in `folder`. At the place they have the same names, and no folders. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly mostBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onBytes: (progress: ByteProgress) => void;
};

/** Copies files that lie beside a model's archive. Resolves to false when one of them is not there. */
export async function copyBeside({ paths, folder, ...place }: CopiedFiles): Promise<boolean> {
  for (const path of paths) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (!(await copyOne(target, place))) return false;
  }
  return true;
}

type Place = Omit<CopiedFiles, 'paths' | 'folder'>;

async function copyOne(target: string, { from, ...download }: Place): Promise<boolean> {
  const name = basename(target);
  if (/^https?:\/\//i.test(from)) {
    const url = `${from.replace(/\/+$/, '')}/${name}`;
    const arrived = await downloadFile({ url, target, ...download }).catch((error: unknown) => {
      if (error instanceof DownloadRefused) return undefined;
      throw error;
    });
    if (arrived !== undefined) await rename(arrived, target);
    return arrived !== undefined;
  }
  const isFolder = (await stat(from).catch(() => undefined))?.isDirectory() === true;
  const source = join(isFolder ? from : dirname(from), name);
  if ((await stat(source).catch(() => undefined))?.isFile() !== true) return false;
  await copyFile(source, target);
  return true;
}

import { copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { type ByteProgress, DownloadRefused, downloadFile } from './download-file.ts';

export type CopiedFiles = {
  /** Source of the model, as in `--from`: an archive, a folder, or the address of a mirror. */
  readonly from: string;
  /** Paths of the files to write, in `folder`. At the place they have the same names, and no folders. */
  readonly paths: readonly string[];
  readonly folder: string;
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

async function copyOne(target: string, { from, clock, signal, onBytes }: Place): Promise<boolean> {
  const name = basename(target);
  if (/^https?:\/\//i.test(from)) {
    const url = `${from.replace(/\/+$/, '')}/${name}`;
    const arrived = await downloadFile({ url, target, clock, signal, onBytes }).catch((error: unknown) => {
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

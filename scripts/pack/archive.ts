import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Archive = { readonly path: string; readonly packedBytes: number; readonly unpackedBytes: number };

type PackReport = { readonly filename: string; readonly size: number; readonly unpackedSize: number };

/** Runs `npm pack` in the folder of a staged package. */
export async function createArchive(folder: string, destination: string): Promise<Archive> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  // npm 11 prints a list, later versions print an object by name.
  const [report] = Object.values(JSON.parse(stdout) as Readonly<Record<string, PackReport>>);
  if (report === undefined) throw new Error(`npm pack said nothing about ${folder}`);
  const path = join(destination, report.filename);
  return { path, packedBytes: report.size, unpackedBytes: report.unpackedSize };
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goEnvironment } from '../../../scripts/parts/go-toolchain.ts';

export interface GoModule {
  /** The module's folder. */
  readonly folder: string;
  /** The import path of its command. */
  readonly packagePath: string;
  /** The environment for `go`. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** Writes a module without dependencies, with one command of this source. */
export async function writeGoModule(source: string): Promise<GoModule> {
  const env = await goEnvironment();
  if (env === undefined) throw new Error('Go is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'rtc-go-'));
  const command = join(folder, 'cmd', 'server');
  await mkdir(command, { recursive: true });
  await writeFile(join(folder, 'go.mod'), 'module example.test/hello\n\ngo 1.21\n');
  await writeFile(join(command, 'main.go'), source);
  const close = () => rm(folder, { recursive: true, force: true });
  return { folder, packagePath: 'example.test/hello/cmd/server', env, close };
}

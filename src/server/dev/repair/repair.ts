import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';
import { makeFolder } from '../../../folders/make-folder.ts';
import { type Config, type Environment, loadConfig } from '../../app/config/config.ts';
import { type Outcome, startContainer } from './container.ts';
import { type MediaWorkerKind, workerFile } from './worker-files.ts';

/** Outcome of one step of `rtc doctor --fix`, with its subject. */
export type Repair = Outcome & { readonly subject: string };

export type RepairOptions = {
  readonly environment: Environment;
  /** Workers that are known to be missing. Only these are started. */
  readonly missing: readonly MediaWorkerKind[];
  /** Milliseconds for a container to connect to the media server's Redis. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
};

/**
 * Makes the folders of the service on this machine, writes the configuration of LiveKit's workers with its keys, and starts
 * missing workers as containers. Existing files are renamed and not overwritten.
 *
 * @throws ConfigError for settings with which no service starts.
 */
export async function repair(options: RepairOptions): Promise<readonly Repair[]> {
  const { environment, missing } = options;
  const config = loadConfig(environment);
  const repairs = [
    await prepareFolder('data folder', { path: config.dataDir, mode: 0o700 }),
    ...(config.bucket === undefined
      ? [await prepareFolder('recording folder', { path: config.recordingDir, mode: 0o755 })]
      : []),
  ];
  for (const kind of ['egress', 'ingress'] as const) {
    const written = await attempt(`${kind}.yaml`, () => writeWorkerFile(kind, config));
    repairs.push(written);
    if (!missing.includes(kind) || written.status === 'not done') continue;
    repairs.push(await attempt(`${kind} container`, () => startContainer(kind, { ...options, config })));
  }
  return repairs;
}

async function attempt(subject: string, work: () => Promise<Outcome>): Promise<Repair> {
  try {
    return { subject, ...(await work()) };
  } catch (error) {
    if (error instanceof HintedError) {
      const { text, command } = error.hint;
      const next = command === undefined ? text : `${text}: ${command}`;
      return { subject, status: 'not done', detail: error.reason, next };
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { subject, status: 'not done', detail: `failed with ${code}`, next: '' };
  }
}

function prepareFolder(
  subject: string,
  { path, mode }: { readonly path: string; readonly mode: number },
): Promise<Repair> {
  return attempt(subject, async () => {
    if (await isFolder(path)) return { status: 'unchanged', detail: path, next: '' };
    await makeFolder(path, mode);
    return { status: 'done', detail: `made ${path}`, next: '' };
  });
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** The file has the media server's secret, so only its owner can read it. */
async function writeWorkerFile(kind: MediaWorkerKind, config: Config): Promise<Outcome> {
  const { redisUrl, livekit, dataDir } = config;
  if (redisUrl === undefined) {
    throw new HintedError('REDIS_URL is not set', {
      text: "set it to the Redis of the media server's own configuration, through which its workers find it",
    });
  }
  const path = join(dataDir, `${kind}.yaml`);
  const text = workerFile(kind, { livekit, redisUrl, processors: availableParallelism() });
  const former = await readFile(path, 'utf8').catch(() => undefined);
  if (former === text) return { status: 'unchanged', detail: path, next: '' };
  if (former !== undefined) await rename(path, `${path}.former`);
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  const kept = former === undefined ? '' : `; the former file is ${path}.former`;
  return { status: 'done', detail: `wrote ${path}${kept}`, next: '' };
}

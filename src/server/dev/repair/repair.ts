import { execFile } from 'node:child_process';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import { type Config, loadConfig } from '../../app/config/config.ts';
import type { Environment } from '../../app/config/environment.ts';
import { createMediaWorkers } from '../../platform/livekit/count-media-workers.ts';
import { makeFolder } from '../../platform/storage/make-folder.ts';
import { RECORDER_IMAGE } from '../add-ons/recorder.ts';
import { findOnPath, type Program } from '../binaries/go-binary.ts';
import { livekitRedis } from '../redis.ts';

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

/** Outcome of one step of the repair. */
type Outcome = {
  readonly status: 'done' | 'unchanged' | 'not done';
  readonly detail: string;
  /** The next step for the user; empty when there is none. */
  readonly next: string;
};

/** The images of compose.yaml. */
export const IMAGES: Readonly<Record<MediaWorkerKind, string>> = {
  egress: RECORDER_IMAGE,
  ingress: 'livekit/ingress:v1.5.0',
};

/** Longer than a container takes to start. Images are not downloaded. */
const ENGINE_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 500;

type ContainerOptions = {
  readonly environment: Environment;
  readonly config: Pick<Config, 'dataDir' | 'recordingDir' | 'redisUrl' | 'bucket'>;
  /** Time for a container to connect. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
};

/** Starts the worker with its file in DATA_DIR, replacing a container of the same name, and waits until it is connected. */
async function startContainer(
  kind: MediaWorkerKind,
  { environment, config, connectTimeoutMs, signal }: ContainerOptions,
): Promise<Outcome> {
  const engine = await findEngine(environment);
  const image = IMAGES[kind];
  const run = runner(engine, environment, signal);
  if (!(await succeeds(run(['image', 'inspect', image])))) {
    // An image has up to a gigabyte, so it is never downloaded unasked.
    throw new HintedError(`${engine.name} does not have the image ${image}`, {
      text: 'download it, then run this again',
      command: `${engine.name} pull ${image}`,
    });
  }
  const name = `rtc-${kind}`;
  await succeeds(run(['rm', '--force', name]));
  const variable = `${kind.toUpperCase()}_CONFIG_BODY`;
  const body = await readFile(join(config.dataDir, `${kind}.yaml`), 'utf8');
  const recordings = `${config.recordingDir}:${config.recordingDir}`;
  // The configuration has the secret, so it is passed in the environment and not in the arguments.
  const args = [
    ...['run', '--detach', '--name', name, '--restart', 'unless-stopped', '--pull', 'never'],
    ...['--network', 'host', '--env', variable],
    ...(kind === 'egress' && config.bucket === undefined ? ['--volume', recordings] : []),
    image,
  ];
  if (!(await succeeds(run(args, { [variable]: body })))) {
    throw new HintedError(`${engine.name} could not start ${name}`, {
      text: 'see why',
      command: `${engine.name} logs ${name}`,
    });
  }
  if (await isConnected(kind, config.redisUrl, { connectTimeoutMs, signal })) {
    return { status: 'done', detail: `started ${name}, which is connected`, next: '' };
  }
  throw new HintedError(`${name} is running, but is not connected to the media server's Redis`, {
    text: 'see why',
    command: `${engine.name} logs ${name}`,
  });
}

async function findEngine({ PATH }: Environment): Promise<Program> {
  const engine = await findOnPath(['docker', 'podman'], PATH);
  if (engine !== undefined && process.platform === 'linux') return engine;
  const reason =
    engine === undefined
      ? 'neither docker nor podman is on PATH'
      : 'containers are in a virtual machine here, which does not reach a media server on this machine';
  throw new HintedError(reason, { text: 'how to run one', command: 'rtc help recorder' });
}

function runner({ path }: Program, environment: Environment, signal: AbortSignal) {
  return (args: readonly string[], more: Environment = {}): Promise<unknown> =>
    promisify(execFile)(path, args, {
      timeout: ENGINE_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      env: { ...environment, ...more },
      signal,
    });
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}

async function isConnected(
  kind: MediaWorkerKind,
  redisUrl: string | undefined,
  { connectTimeoutMs, signal }: Pick<ContainerOptions, 'connectTimeoutMs' | 'signal'>,
): Promise<boolean> {
  const workers = createMediaWorkers(redisUrl, { debug() {}, info() {}, warn() {}, error() {} });
  const deadline = performance.now() + connectTimeoutMs;
  while (performance.now() < deadline) {
    const { recorders = 0, ingress = 0 } = await workers.count();
    if ((kind === 'egress' ? recorders : ingress) > 0) return true;
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
  return false;
}

export type MediaWorkerKind = 'egress' | 'ingress';

/**
 * LiveKit's recommendation for a recording. On a machine with fewer processors the recorder accepts none unless its
 * configuration assumes less.
 */
const RECORDER_PROCESSORS = 4;

type WorkerFileSource = {
  readonly livekit: Config['livekit'];
  readonly redisUrl: string;
  /** Processors of this machine. */
  readonly processors: number;
};

/**
 * Returns the configuration of LiveKit's egress or ingress worker, as YAML:
 * https://docs.livekit.io/transport/self-hosting/egress/.
 */
export function workerFile(
  kind: MediaWorkerKind,
  { livekit, redisUrl, processors }: WorkerFileSource,
): string {
  const common = {
    api_key: livekit.apiKey,
    api_secret: livekit.apiSecret,
    ws_url: livekit.url,
    redis: livekitRedis(new URL(redisUrl)),
  };
  const own = kind === 'egress' ? recorderSettings(processors) : { rtmp_port: 1935, whip_port: 8080 };
  const lines = Object.entries({ ...common, ...own });
  // JSON is valid YAML, and quotes secrets safely.
  return lines.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('');
}

function recorderSettings(processors: number) {
  return processors < RECORDER_PROCESSORS ? { cpu_cost: { room_composite_cpu_cost: 2 } } : {};
}

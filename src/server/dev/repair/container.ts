import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import type { Config, Environment } from '../../app/config/config.ts';
import { createMediaWorkers } from '../../platform/livekit/count-media-workers.ts';
import { RECORDER_IMAGE } from '../add-ons/find-recorder.ts';
import { findOnPath, type Program } from '../binaries/find-on-path.ts';
import type { MediaWorkerKind } from './worker-files.ts';

/** Outcome of one step of the repair. */
export type Outcome = {
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

export type ContainerOptions = {
  readonly environment: Environment;
  readonly config: Pick<Config, 'dataDir' | 'recordingDir' | 'redisUrl' | 'bucket'>;
  /** Time for a container to connect. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
};

/** Starts the worker with its file in DATA_DIR, replacing a container of the same name, and waits until it is connected. */
export async function startContainer(
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

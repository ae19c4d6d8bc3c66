import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import type { Environment } from '../../app/config/environment.ts';
import { createMediaWorkers } from '../../platform/livekit/count-media-workers.ts';
import type { Log } from '../../platform/log.ts';
import type { ChildSettings } from '../binaries/child-process.ts';
import { findOnPath, isExecutable, type Program } from '../binaries/go-binary.ts';
import { nextFreePort } from '../free-port.ts';
import type { DevMedia } from '../media.ts';
import type { ProcessSupervisor } from '../process-supervisor.ts';
import { livekitRedis } from '../redis.ts';
import type { AddOn } from './run-add-ons.ts';

export type RecorderSettings = {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly recordingDir: string;
  readonly media: Pick<DevMedia, 'kind' | 'url' | 'redisUrl'>;
  /** The media server's key and secret. */
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
  readonly log: Log;
};

/**
 * Returns the add-ons for LiveKit's egress workers. Files are written into the recording folder; each request has the bucket
 * of S3_BUCKET.
 */
export async function recorders(settings: RecorderSettings): Promise<readonly AddOn[]> {
  const { media, dataDir, supervisor, log } = settings;
  const redisUrl = requireRedis(media);
  const program = await findRecorderProgram(settings.environment);
  await prepareFolders(program, settings);
  const workers = createMediaWorkers(redisUrl, log);
  const addOns: AddOn[] = [];
  let templatePort = FIRST_TEMPLATE_PORT;
  for (const name of LOG_NAMES) {
    templatePort = await nextFreePort(templatePort);
    const body = JSON.stringify(configuration(settings, { redisUrl, templatePort }));
    const logFile = join(dataDir, name);
    addOns.push({
      name: 'recorder',
      logFile,
      start: (logMode) => supervisor.start({ ...command(program, settings, body), logFile, logMode }),
      isReady: async () => ((await workers.count()).recorders ?? 0) > 0,
    });
    templatePort += 1;
  }
  return addOns;
}

/**
 * There are two workers, so that a room can be recorded and broadcast on two processors. One that has work refuses (503) what
 * costs more than its work leaves of 80 % of the processors; and on a busy machine it ends one of several after a while, but
 * never its only one. Hence on a small machine each takes one, whatever it uses.
 */
const LOG_NAMES = ['egress.log', 'egress-2.log'] as const;

function requireRedis({ kind, redisUrl }: RecorderSettings['media']): string {
  if (kind !== 'livekit') {
    throw new HintedError('rtc dev starts a recorder only for a LiveKit that it has started too', {
      text: 'connect one to the media server yourself',
      command: 'rtc help recorder',
    });
  }
  if (redisUrl !== undefined) return redisUrl;
  throw new HintedError('a recorder needs Redis, and there is no redis-server on PATH', {
    text: 'install redis-server, then start rtc dev again',
  });
}

const FIRST_TEMPLATE_PORT = 7980;

type WorkerSettings = { readonly redisUrl: string; readonly templatePort: number };

/** As in compose.yaml. A machine with fewer processors than LiveKit's own figure (4) would refuse every recording. */
const RECORDING_PROCESSORS = 2;

/** JSON is valid YAML. */
function configuration(
  { media, apiKey, apiSecret }: RecorderSettings,
  { redisUrl, templatePort }: WorkerSettings,
) {
  return {
    api_key: apiKey,
    api_secret: apiSecret,
    ws_url: media.url,
    redis: livekitRedis(new URL(redisUrl)),
    template_port: templatePort,
    cpu_cost: { room_composite_cpu_cost: Math.min(RECORDING_PROCESSORS, availableParallelism()) },
  };
}

/**
 * The user of a container differs from ours, so the folder may be written by everyone. The data folder above it is
 * accessible only to us.
 */
async function prepareFolders(
  { kind }: RecorderProgram,
  { dataDir, recordingDir }: RecorderSettings,
): Promise<void> {
  if (kind === 'container' && dirname(recordingDir) === dataDir) await chmod(recordingDir, 0o777);
}

/** SIGINT ends the running recordings and completes their files; SIGTERM would wait until their rooms are empty. */
const STOP = { signal: 'SIGINT', timeoutMs: 10_000 } as const;

type Command = Omit<ChildSettings, 'logFile' | 'logMode'>;

/** The configuration has the secret, so it is passed in the environment. */
function command(
  program: RecorderProgram,
  { environment, recordingDir }: RecorderSettings,
  body: string,
): Command {
  const { name, path } = program;
  const given = [...PASSED_ON].flatMap((variable) => {
    const value = environment[variable];
    return value === undefined ? [] : [[variable, value]];
  });
  const env = { ...Object.fromEntries(given), EGRESS_CONFIG_BODY: body };
  if (program.kind === 'program') {
    const PATH = [dirname(path), environment.PATH ?? ''].join(delimiter);
    return { name, program: path, args: [], env: { ...env, PATH }, stop: STOP };
  }
  const args = ['run', '--rm', '--network', 'host', '--env', 'EGRESS_CONFIG_BODY'];
  return {
    name,
    program: path,
    env,
    stop: STOP,
    args: [...args, '--volume', `${recordingDir}:${recordingDir}`, program.image],
  };
}

/** Environment variables that the recorder's sound server, browser and encoders, or the container's client, use. */
const PASSED_ON = [
  ...['XDG_RUNTIME_DIR', 'PULSE_SERVER', 'CHROME_DEVEL_SANDBOX', 'GST_PLUGIN_PATH'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'CONTAINER_HOST'],
] as const;

/** The image that compose.yaml uses. */
export const RECORDER_IMAGE = 'livekit/egress:v1.12.0';

/** LiveKit's egress worker, as a program of this machine or as an image of a container engine. */
type RecorderProgram = Program &
  ({ readonly kind: 'program' } | { readonly kind: 'container'; readonly image: string });

/** The program starts itself again for each recording, by this name on its PATH. */
const NAME = 'egress';

/**
 * Finds EGRESS_PROGRAM, `egress` on PATH, or the image in Docker or Podman, in this order. It
 * downloads nothing: the image has more than a gigabyte. Rejects with what is missing.
 */
export async function findRecorderProgram(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<RecorderProgram> {
  const { EGRESS_PROGRAM: set, PATH } = environment;
  if (set) {
    const path = resolve(set);
    if (basename(path) === NAME && (await isExecutable(path))) return { kind: 'program', name: NAME, path };
    throw new HintedError(`EGRESS_PROGRAM is ${JSON.stringify(set)}, which is not a program called ${NAME}`, {
      text: "set it to the path of LiveKit's egress worker",
    });
  }
  const found = await findOnPath([NAME], PATH, platform);
  if (found !== undefined) return { kind: 'program', ...found };
  return await findContainer(await findOnPath(['docker', 'podman'], PATH, platform), platform);
}

async function findContainer(
  engine: Program | undefined,
  platform: NodeJS.Platform,
): Promise<RecorderProgram> {
  const missing = "LiveKit's egress worker is not on PATH";
  // On other platforms containers run in a virtual machine, which does not reach a LiveKit that listens on 127.0.0.1.
  if (engine === undefined || platform !== 'linux') throw new HintedError(missing, BY_HAND);
  if (!(await succeeds(engine, ['info']))) {
    throw new HintedError(`${missing}, and ${engine.name} does not respond`, BY_HAND);
  }
  if (await succeeds(engine, ['image', 'inspect', RECORDER_IMAGE])) {
    return { kind: 'container', ...engine, image: RECORDER_IMAGE };
  }
  throw new HintedError(`${missing}, and ${engine.name} does not have its image`, {
    text: 'download it once, then start rtc dev again',
    command: `${engine.name} pull ${RECORDER_IMAGE}`,
  });
}

const BY_HAND = { text: 'how to run one', command: 'rtc help recorder' } as const;

/** A container engine that takes longer counts as missing. */
const ENGINE_TIMEOUT_MS = 10_000;

async function succeeds({ path }: Program, args: readonly string[]): Promise<boolean> {
  return await promisify(execFile)(path, args, { timeout: ENGINE_TIMEOUT_MS, killSignal: 'SIGKILL' }).then(
    () => true,
    () => false,
  );
}

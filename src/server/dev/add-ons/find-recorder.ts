import { execFile } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import type { Environment } from '../../app/config/config.ts';
import { findOnPath, isExecutable, type Program } from '../binaries/go-binary.ts';

/** The image that compose.yaml uses. */
export const RECORDER_IMAGE = 'livekit/egress:v1.12.0';

/** LiveKit's egress worker, as a program of this machine or as an image of a container engine. */
export type RecorderProgram = Program &
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

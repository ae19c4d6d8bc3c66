import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  cachedProgramPath,
  defaultCacheDir,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from '../../src/server/dev/binaries/go-binary.ts';

/**
 * LiveKit's ingress service (Apache-2.0). `go install …@version` refuses it, because its go.mod has a replace line.
 * Therefore it is built from a module of ours that requires it and repeats that line. GStreamer's development packages must
 * be installed (cgo). It is built once, which takes 3 minutes on two cores; 53 MB.
 */
const moduleFolder = fileURLToPath(new URL('../build-ingress/', import.meta.url));
const packagePath = 'github.com/livekit/ingress/cmd/server';

/** The service starts its workers as `ingress` by PATH, so the program must have this name. */
const programName = 'ingress';

export async function findIngress(): Promise<string | undefined> {
  const path = cachedProgramPath(await ingressProgram(), defaultCacheDir(process.env));
  return (await isExecutable(path)) ? path : undefined;
}

export async function buildIngress(options: GoInstallOptions): Promise<string> {
  return installGoProgram(await ingressProgram(), { ...options, moduleFolder });
}

/** The cache's version covers the module's whole content, so any change of a pin causes a new build. */
async function ingressProgram(): Promise<GoProgram> {
  const [pins, sums] = await Promise.all(
    ['go.mod', 'go.sum'].map((file) => readFile(`${moduleFolder}${file}`, 'utf8')),
  );
  const release = /livekit\/ingress (v\S+)/.exec(pins ?? '')?.[1] ?? 'unpinned';
  const digest = createHash('sha256').update(`${pins}${sums}`).digest('hex').slice(0, 12);
  return { name: programName, packagePath, version: `${release}-${digest}` };
}

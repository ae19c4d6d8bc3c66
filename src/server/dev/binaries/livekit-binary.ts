import { delimiter, join } from 'node:path';
import {
  cachedProgramPath,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from './go-binary.ts';

/** The media server's version that this service is built and tested against. */
export const livekitServerVersion = 'v1.13.5';

/** The media server's module; Go calls its command `server`, the cache `livekit-server`. */
const livekitServer: GoProgram = {
  name: 'livekit-server',
  packagePath: 'github.com/livekit/livekit-server/cmd/server',
  version: livekitServerVersion,
};

/** Where to look for a media server: the search path of `env`, then the cache. */
export interface LivekitSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly cacheDir: string;
}

/** The media server of the operator's own choice (`livekit-server` on PATH, any version), else the pinned one of the cache. */
export async function findLivekitServer(search: LivekitSearch): Promise<string | undefined> {
  const folders = (search.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    const candidate = join(folder, 'livekit-server');
    if (await isExecutable(candidate)) return candidate;
  }
  return findCachedLivekitServer(search.cacheDir);
}

/** The pinned media server when it was built before; what the tests run against, whatever PATH has. */
export async function findCachedLivekitServer(cacheDir: string): Promise<string | undefined> {
  const path = cachedProgramPath(livekitServer, cacheDir);
  return (await isExecutable(path)) ? path : undefined;
}

/**
 * Builds the pinned media server into the cache with `go install` (about 2 minutes on two cores, once; 75 MB)
 * and returns its path. Safe when two processes do it at once.
 *
 * @throws Error when Go is missing, the build fails, or the signal aborts it.
 */
export async function buildLivekitServer(options: GoInstallOptions): Promise<string> {
  return installGoProgram(livekitServer, options);
}

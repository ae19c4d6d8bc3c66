import { findOnPath } from './find-on-path.ts';
import {
  cachedProgramPath,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from './go-binary.ts';

/** Version of the media server that the service is built for and tested with. */
export const livekitServerVersion = 'v1.13.5';

/** The media server's module. Go names its command `server`; the cache names it `livekit-server`. */
const livekitServer: GoProgram = {
  name: 'livekit-server',
  packagePath: 'github.com/livekit/livekit-server/cmd/server',
  version: livekitServerVersion,
};

/** Where to search for a media server: PATH of `env`, then the cache. */
export interface LivekitSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly cacheDir: string;
}

/** Returns `livekit-server` of PATH, in any version, or the pinned version in the cache. */
export async function findLivekitServer(search: LivekitSearch): Promise<string | undefined> {
  const onPath = await findOnPath(['livekit-server'], search.env.PATH);
  return onPath?.path ?? (await findCachedLivekitServer(search.cacheDir));
}

/** Returns the pinned version if it was built before. Tests use it, whatever PATH contains. */
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

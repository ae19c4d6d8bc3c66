import {
  cachedProgramPath,
  defaultCacheDir,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from '../../src/server/dev/binaries/go-binary.ts';

/**
 * A real S3 server that stores in a folder (Apache-2.0). It is built once, which takes about a minute on two cores; 84 MB.
 */
const versitygw: GoProgram = {
  name: 'versitygw',
  packagePath: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
};

export async function findVersitygw(): Promise<string | undefined> {
  const path = cachedProgramPath(versitygw, defaultCacheDir(process.env));
  return (await isExecutable(path)) ? path : undefined;
}

export function buildVersitygw(options: GoInstallOptions): Promise<string> {
  return installGoProgram(versitygw, options);
}

import {
  cachedProgramPath,
  defaultCacheDir,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from '../../src/server/dev/binaries/go-binary.ts';

/** Helm (Apache-2.0), which lints and renders the chart: ten minutes to build on two cores, once. */
const helm: GoProgram = { name: 'helm', packagePath: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };

export async function findHelm(): Promise<string | undefined> {
  const path = cachedProgramPath(helm, defaultCacheDir(process.env));
  return (await isExecutable(path)) ? path : undefined;
}

export function buildHelm(options: GoInstallOptions): Promise<string> {
  return installGoProgram(helm, options);
}

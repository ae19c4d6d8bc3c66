import {
  cachedProgramPath,
  defaultCacheDir,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from '../../src/server/dev/binaries/go-binary.ts';

/** Helm (Apache-2.0) lints and renders the chart. It is built once, which takes 2 to 10 minutes on two cores. */
const helm: GoProgram = { name: 'helm', packagePath: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };

export async function findHelm(): Promise<string | undefined> {
  const path = cachedProgramPath(helm, defaultCacheDir(process.env));
  return (await isExecutable(path)) ? path : undefined;
}

export function buildHelm(options: GoInstallOptions): Promise<string> {
  return installGoProgram(helm, options);
}

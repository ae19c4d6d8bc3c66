/**
 * `npm run pack` builds, and writes the archives of the three packages to packed/: rtc-service, @rtc-service/fiscal and
 * @rtc-service/client. These are published; the repository's own package.json is private.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './build/output.ts';
import { createArchive, stagePackages } from './pack/stage.ts';

await import('./build.ts');
const staging = await mkdtemp(join(tmpdir(), 'rtc-pack-'));
try {
  const destination = `${ROOT}packed`;
  await mkdir(destination, { recursive: true });
  for (const folder of await stagePackages(staging)) {
    const { path, packedBytes, unpackedBytes } = await createArchive(folder, destination);
    console.log(`${path}: ${megabytes(packedBytes)}, unpacked ${megabytes(unpackedBytes)}`);
  }
} finally {
  await rm(staging, { recursive: true, force: true });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}

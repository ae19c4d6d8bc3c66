import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { packageVersion } from '../src/server/app/package-root.ts';
import { bundledPackages, softwareBillOfMaterials, thirdPartyNotices } from './build/bundled-packages.ts';
import { buildCli, buildLibraries, buildServer, writeDeclarations } from './build/bundles.ts';
import { writeManuals } from './build/manuals.ts';
import { hashInputs, ROOT, rememberInputs } from './build/output.ts';
import { buildPages } from './build/pages.ts';
import { writeReference } from './build/reference.ts';
import { buildUndici } from './build/undici.ts';

/*
 * Builds dist/ from src/: the command line and the service, bundled with their packages for a quick start and less memory;
 * the libraries, which leave npm packages outside; their declarations; the parts of the API reference page; and the notices
 * and the bill of materials of everything that is bundled. The same sources and packages give the same bytes.
 */

/** Built in another folder and then renamed, so that a concurrent run of rtc finds either the old or the new build. */
const out = `${ROOT}.cache/build-${process.pid}`;

try {
  await mkdir(out, { recursive: true });
  const inputs = await hashInputs();
  const bundledModules = await Promise.all([
    buildCli(out),
    buildServer(out),
    buildUndici(out),
    buildPages(out),
    writeReference(out),
    buildLibraries(out),
    writeDeclarations(out),
  ]);
  const packages = bundledPackages(bundledModules.flat());
  await writeFile(`${out}/THIRD-PARTY-NOTICES`, thirdPartyNotices(packages));
  await writeFile(`${out}/sbom.cdx.json`, await softwareBillOfMaterials(packages));
  await writeManuals(out, packageVersion(ROOT));
  await putInPlace();
  await rememberInputs(inputs);
} finally {
  await rm(out, { recursive: true, force: true });
}

async function putInPlace(): Promise<void> {
  const dist = `${ROOT}dist`;
  const former = `${out}-former`;
  if (existsSync(dist)) await rename(dist, former);
  await rename(out, dist);
  await rm(former, { recursive: true, force: true });
}

/**
 * `npm run release -- --dry-run` makes everything of a release in release/, and publishes nothing: the three packages, the
 * single executable file for Linux, the bill of materials, manual pages and completions, the notes of the changelog and the
 * checksums of all files. It prints what could not be made because the machine lacks something. `--without-arm64` does not
 * download Node for the other processor. compose.yaml gets the digest of each image whose registry responds. With `--images
 * REGISTRY/ORG`, where images of this version have been pushed, the chart's values get their digests.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ROOT } from './build/output.ts';
import { readManifest } from './pack/manifests.ts';
import { createArchive, stagePackages } from './pack/stage.ts';
import { checkSizes } from './release/budgets.ts';
import { chartValues, findDigest, pinImages } from './release/image-digest.ts';
import { readRelease } from './release/notes.ts';
import { makeSingleFile } from './release/single-file.ts';

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean' },
    'without-arm64': { type: 'boolean' },
    images: { type: 'string' },
  },
});
if (options['dry-run'] !== true) {
  throw new Error(
    'Only npm run release -- --dry-run: publishing is done by the registries’ own tools, from its files.',
  );
}
const { version, notes } = readRelease(
  String((await readManifest()).version),
  await readFile(`${ROOT}CHANGELOG.md`, 'utf8'),
);
await import('./build.ts');
const target = `${ROOT}release`;
await rm(target, { recursive: true, force: true });
await mkdir(target);
const work = await mkdtemp(join(tmpdir(), 'rtc-release-'));
try {
  const folders = await stagePackages(work);
  const made: string[] = [];
  for (const folder of folders) made.push((await createArchive(folder, target)).path);
  const [packageFolder = ''] = folders;
  const processors = options['without-arm64'] === true ? (['x64'] as const) : (['x64', 'arm64'] as const);
  for (const arch of processors) {
    const program = await makeSingleFile(arch, { packageFolder, work });
    const archive = join(target, `rtc-${version}-linux-${arch}.tar.gz`);
    await run('tar', ['-czf', archive, '-C', dirname(program), basename(program)]);
    made.push(archive);
  }
  const manuals = join(target, `rtc-${version}-manuals.tar.gz`);
  await run('tar', ['-czf', manuals, '-C', `${ROOT}dist`, 'man', 'completions']);
  const sbom = join(target, `rtc-service-${version}.cdx.json`);
  await copyFile(`${ROOT}dist/sbom.cdx.json`, sbom);
  const notesFile = join(target, 'NOTES.md');
  await writeFile(notesFile, `${notes}\n`);
  made.push(manuals, sbom, notesFile, await writeCompose(), ...(await writeChartValues(options.images)));
  await writeFile(join(target, 'SHA256SUMS'), await checksums(made));
  for (const { name, megabytes, budget } of await checkSizes(made)) {
    console.log(`${name}: ${megabytes.toFixed(2)} MB${budget === undefined ? '' : ` of ${budget}`}`);
  }
  console.log(await buildImages());
  console.log(
    `In release/, version ${version}. Nothing was published. To publish, from CI with an identity token:`,
  );
  for (const path of made.filter((each) => each.endsWith('.tgz'))) {
    console.log(`  npm publish --provenance --access public ${basename(path)}`);
  }
} finally {
  await rm(work, { recursive: true, force: true });
}

/** Writes the compose file with digests. An image whose registry does not respond keeps its tag without a digest. */
async function writeCompose(): Promise<string> {
  const { text, pinned, unpinned } = await pinImages(
    await readFile(`${ROOT}compose.yaml`, 'utf8'),
    findDigest,
  );
  console.log(`compose.yaml: ${pinned.length} images have digests.`);
  for (const line of unpinned) console.log(`  no digest of ${line}`);
  const path = join(target, 'compose.yaml');
  await writeFile(path, text);
  return path;
}

/** Writes values of the chart with the digests of our own images, which must have been pushed to `registry`. */
async function writeChartValues(registry: string | undefined): Promise<readonly string[]> {
  if (registry === undefined) return [];
  const path = join(target, `rtc-service-${version}.values.yaml`);
  await writeFile(path, await chartValues({ version, registry }, findDigest));
  return [path];
}

/** Returns checksums in the format that sha256sum writes and checks. */
async function checksums(paths: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    paths.map(async (path) => {
      const hash = createHash('sha256').update(await readFile(path));
      return `${hash.digest('hex')}  ${basename(path)}\n`;
    }),
  );
  return lines.join('');
}

/** Builds the images of the service and its workers, if Docker is running. */
async function buildImages(): Promise<string> {
  const isThere = await run('docker', ['info']).then(
    () => true,
    () => false,
  );
  if (!isThere) return 'No image was built: Docker does not answer on this machine.';
  const { stdout: revision } = await run('git', ['rev-parse', 'HEAD'], { cwd: ROOT });
  for (const stage of ['service', 'worker']) {
    const tag = stage === 'service' ? `rtc-service:${version}` : `rtc-service-worker:${version}`;
    const labels = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision.trim()}`];
    await run('docker', ['build', '--target', stage, '--tag', tag, ...labels, ROOT]);
  }
  return `Built rtc-service:${version} and rtc-service-worker:${version}.`;
}

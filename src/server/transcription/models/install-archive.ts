import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';
import type { Clock } from '../../platform/clock.ts';
import { hashFile } from '../../platform/hash-file.ts';
import { makeFolder } from '../../platform/storage/make-folder.ts';
import { readSherpaModel } from '../engines/sherpa-model.ts';
import { type CatalogueModel, RELEASES } from './catalogue.ts';
import { type ByteProgress, discardDownload, downloadFile } from './download-file.ts';
import { MAX_BYTES, UnexpectedFile, unpackArchive } from './unpack-archive.ts';

/*
 * Installs a model of the catalogue: downloads or copies it, verifies it, unpacks it, tries it, and moves it into place
 * as a whole.
 */

type ArchiveInstallation = {
  /** Folder of all models. */
  readonly folder: string;
  /** An archive, a folder with the archive or with the model's files, or the address of a mirror. */
  readonly from?: string | undefined;
  /** Whether files without a published SHA-256 are installed too. Their SHA-256 is recorded. */
  readonly acceptUnverified: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onStep: (line: string) => void;
  readonly onBytes: (progress: ByteProgress) => void;
  /** Rejects when the model in the folder does not recognise speech. */
  readonly tryModel: (folder: string) => Promise<void>;
};

/** The model has no published SHA-256, and the caller has not accepted that. */
class UnverifiedModel extends Error {
  override readonly name = 'UnverifiedModel';
}

/** Resolves to the model's folder. Rejects with the cause and what to do. */
export async function installArchive(
  model: CatalogueModel,
  installation: ArchiveInstallation,
): Promise<string> {
  const { folder, onStep, tryModel, signal } = installation;
  await makeFolder(folder);
  const target = join(folder, model.name);
  await requireAcceptance(model, installation);
  const source = await findSource(model, installation);
  const aside = await mkdtemp(join(folder, `.${model.name}-`));
  try {
    const files = join(aside, 'files');
    await mkdir(files);
    onStep(`unpacking ${model.name}`);
    const allows = isPublished(model);
    if (source.isUnpacked) await copyModel(source.path, files, allows);
    else
      await unpackModel(source.path, model, {
        folder: files,
        allows,
        mostBytes: computeMostBytes(model),
        signal,
      });
    onStep(`checking ${model.name}`);
    const digest = source.isUnpacked ? await digestOfFolder(files) : await hashFile(source.path);
    const isVerified = await verify(model, { folder, files, digest });
    await removeUnusedTwins(files);
    onStep(`trying ${model.name}`);
    await tryModel(files);
    if (!isVerified) await lockDigest(folder, model.name, digest);
    const { languages, licence } = model;
    const about = {
      languages,
      licence,
      isVerified,
      sha256: digest,
      ...(model.files === undefined ? {} : { files: Object.keys(model.files) }),
    };
    await writeFile(join(files, 'model.json'), `${JSON.stringify(about, null, 2)}\n`);
    await rename(files, target).catch((error: NodeJS.ErrnoException) => {
      // When two installations run at once, the second keeps the files of the first, because they are the same.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  await discardDownload(downloadTarget(model, folder));
  onStep(`${model.name} is installed`);
  return target;
}

async function requireAcceptance(
  { name, files }: CatalogueModel,
  { folder, acceptUnverified }: ArchiveInstallation,
): Promise<void> {
  if (files !== undefined || acceptUnverified || (await lockedDigest(folder, name)) !== undefined) return;
  throw new UnverifiedModel(
    `No published SHA-256 of ${name} is known, so nothing can prove that its files are the ones of its authors. Accept that with --accept-unverified: their SHA-256 is recorded in models.lock, and every later installation has to be the same.`,
  );
}

type Source = { readonly path: string; readonly isUnpacked: boolean };

async function findSource(model: CatalogueModel, installation: ArchiveInstallation): Promise<Source> {
  const { from = RELEASES, folder, clock, signal, onStep, onBytes } = installation;
  if (/^https?:\/\//i.test(from)) {
    onStep(`downloading ${model.name}`);
    const url = `${from.replace(/\/+$/, '')}/${model.archive}`;
    const target = downloadTarget(model, folder);
    const mostBytes = computeMostBytes(model);
    return {
      path: await downloadFile({ url, target, mostBytes, clock, signal, onBytes }),
      isUnpacked: false,
    };
  }
  const found = await stat(from).catch((cause: unknown) => {
    const hint = { text: 'name an archive, a folder or the address of a mirror' };
    throw new HintedError(`${from} cannot be read`, hint, { cause });
  });
  if (!found.isDirectory()) return { path: from, isUnpacked: false };
  const archive = join(from, model.archive);
  const hasArchive = (await stat(archive).catch(() => undefined))?.isFile() === true;
  return hasArchive ? { path: archive, isUnpacked: false } : { path: from, isUnpacked: true };
}

/**
 * Returns the bytes that the archive may have, packed and unpacked. The full forms of the parts, which are not kept, and the
 * samples make it up to eight times as large as the model.
 */
function computeMostBytes({ diskBytes, downloadBytes }: CatalogueModel): number {
  const known = Math.max(diskBytes ?? 0, downloadBytes ?? 0);
  return known === 0 ? MAX_BYTES : known * 8;
}

function downloadTarget({ archive }: CatalogueModel, folder: string): string {
  return join(folder, `.download-${archive}`);
}

type Unpacked = { readonly folder: string; readonly files: string; readonly digest: string };

/** Returns whether published SHA-256 prove the files. Throws when those, or the one in models.lock, differ. */
async function verify({ name, files: known }: CatalogueModel, unpacked: Unpacked): Promise<boolean> {
  const { folder, files, digest } = unpacked;
  const expected = Object.entries(known ?? {});
  for (const [file, sha256] of expected) {
    const found = await hashFile(join(files, file)).catch(() => 'missing');
    if (found === sha256) continue;
    throw new Error(`${file} of ${name} is not the published file: its SHA-256 is ${found}.`);
  }
  if (expected.length > 0) return true;
  const locked = await lockedDigest(folder, name);
  if (locked !== undefined && locked !== digest) {
    throw new Error(
      `${name} differs from what was installed before: its SHA-256 is ${digest}, and models.lock has ${locked}. If that is right, remove its line from ${join(folder, 'models.lock')}.`,
    );
  }
  return false;
}

const SAMPLES = 'test_wavs';

/**
 * Files that are published, by their path, and recordings of speech. Without a published list every file is allowed. A further
 * file could be loaded instead of a published one.
 */
function isPublished({ files }: CatalogueModel): (path: string) => boolean {
  const isSample = (path: string): boolean => {
    const [folder, ...names] = path.split('/');
    return folder === SAMPLES && names.length === 1;
  };
  return (path) => files === undefined || Object.hasOwn(files, path) || isSample(path);
}

async function unpackModel(
  archive: string,
  { name }: CatalogueModel,
  unpacking: Parameters<typeof unpackArchive>[1],
): Promise<void> {
  try {
    await unpackArchive(archive, unpacking);
  } catch (error) {
    if (!(error instanceof UnexpectedFile)) throw error;
    const path = JSON.stringify(error.path);
    throw new Error(`The archive has ${path}, which is not a published file of ${name}.`, { cause: error });
  }
}

/** Copies only regular files: the allowed ones, and everything in test_wavs. */
async function copyModel(
  from: string,
  to: string,
  allows: (name: string) => boolean = () => true,
): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isFile() && allows(entry.name)) await copyFile(join(from, entry.name), join(to, entry.name));
    if (!entry.isDirectory() || entry.name !== SAMPLES) continue;
    await mkdir(join(to, entry.name));
    await copyModel(join(from, entry.name), join(to, entry.name));
  }
}

/**
 * Archives of Whisper have each part in a quantised and in a full form. The full form is three times as large and never
 * used.
 */
async function removeUnusedTwins(folder: string): Promise<void> {
  const files = await readdir(folder);
  const twins = files.filter((file) => file.includes('.int8.')).map((file) => file.replace('.int8.', '.'));
  for (const twin of twins) if (files.includes(twin)) await rm(join(folder, twin));
  readSherpaModel(folder);
}

/** SHA-256 of the list of the files with their own, as sha256sum prints it. */
async function digestOfFolder(folder: string): Promise<string> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const lines: string[] = [];
  for (const name of files.map((file) => basename(file.name)).toSorted()) {
    lines.push(`${await hashFile(join(folder, name))}  ${name}\n`);
  }
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/*
 * `models.lock` records the models that were installed without a published SHA-256: the SHA-256 of the accepted files, by
 * name. Every later installation of that name, here or wherever the file is copied, must have the same SHA-256.
 */

const FILE = 'models.lock';

type Lock = Readonly<Record<string, string>>;

async function lockedDigest(folder: string, name: string): Promise<string | undefined> {
  return (await readLock(folder))[name];
}

async function lockDigest(folder: string, name: string, sha256: string): Promise<void> {
  const lock = { ...(await readLock(folder)), [name]: sha256 };
  const sorted = Object.fromEntries(
    Object.entries(lock).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  const aside = join(folder, `.${FILE}.${process.pid}`);
  await writeFile(aside, `${JSON.stringify(sorted, null, 2)}\n`);
  await rename(aside, join(folder, FILE));
}

async function readLock(folder: string): Promise<Lock> {
  const path = join(folder, FILE);
  const text = await readFile(path, 'utf8').catch(() => '{}');
  try {
    return toLock(JSON.parse(text));
  } catch (cause) {
    throw new HintedError(
      `${path} is not valid`,
      { text: 'correct it, or remove it to accept other files' },
      { cause },
    );
  }
}

function toLock(value: unknown): Lock {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  const entries = Object.entries(value).map(([name, digest]) => {
    if (typeof digest !== 'string') throw new Error(`${name} has no digest`);
    return [name, digest] as const;
  });
  return Object.fromEntries(entries);
}

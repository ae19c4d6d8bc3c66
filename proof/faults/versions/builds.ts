import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cleaning, makeFolder } from '../../experiment.ts';

/*
 * The builds of the service that a history has, chosen by the names of their migrations. A name never changes after a release, and
 * before it has a fingerprint of the tables, so that builds with the same names have the same tables.
 */

const ROOT = join(import.meta.dirname, '..', '..', '..');
const MIGRATIONS = 'src/server/schema/migrations.ts';
const PROGRAM = 'test/server/webhooks/support/serve-process.ts';
const MIGRATION = /\{\s*name: '(\d+-[^']+)'/g;
const MAX_ARCHIVE_BYTES = 200 * 2 ** 20;

export type ChosenBuilds = {
  /** The oldest commit since which the tables are the present ones. Undefined if the history has none with other sources. */
  readonly older: string | undefined;
  /** The newest commit with other tables. Undefined if the history has none. */
  readonly otherTables: string | undefined;
  /** Says what the history lacks. */
  readonly gaps: readonly string[];
};

/** Chooses the builds that are run beside the present one. */
export async function chooseBuilds(): Promise<ChosenBuilds> {
  const present = listMigrations(await readFile(join(ROOT, MIGRATIONS), 'utf8'));
  const commits = listCommits();
  const first = commits.findIndex((commit) => listMigrations(showFile(commit)) !== present);
  const same = first === -1 ? commits : commits.slice(0, first);
  const oldest = same.at(-1);
  const older = oldest !== undefined && hasOtherSources(oldest) ? oldest : undefined;
  const otherTables = commits[first];
  const gaps = [
    ...(older === undefined
      ? ['an older build with the present tables: two builds of the same files ran']
      : []),
    ...(otherTables === undefined ? ['a build with other tables: that one is refused was not tried'] : []),
  ];
  return { older, otherTables, gaps: gaps.map((gap) => `The history of this checkout lacks ${gap}.`) };
}

/** Exports the files of a commit; resolves to the program that serves them. Without a commit it is the present build's. */
export async function exportBuild({ cleanUp }: Cleaning, commit: string | undefined): Promise<string> {
  if (commit === undefined) return join(ROOT, PROGRAM);
  const folder = join(await makeFolder({ cleanUp }), commit.slice(0, 8));
  await mkdir(folder);
  const archive = git('archive', commit);
  execFileSync('tar', ['--extract', `--directory=${folder}`], { input: archive });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, PROGRAM);
}

/** The commits that changed the migrations, newest first; none without a history. */
function listCommits(): readonly string[] {
  try {
    return git('log', '--format=%H', '--', MIGRATIONS).toString().split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function showFile(commit: string): string {
  return git('show', `${commit}:${MIGRATIONS}`).toString();
}

/** The first commit of a shallow history seems to have made every file, and is the present one. */
function hasOtherSources(commit: string): boolean {
  return git('diff', '--name-only', commit, '--', 'src').length > 0;
}

function listMigrations(text: string): string {
  return [...text.matchAll(MIGRATION)].map(([, name]) => name).join(' ');
}

function git(...args: readonly string[]): Buffer {
  return execFileSync('git', args, {
    cwd: ROOT,
    maxBuffer: MAX_ARCHIVE_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

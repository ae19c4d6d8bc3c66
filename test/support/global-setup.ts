import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startSharedPartsServer } from './parts/shared-parts-server.ts';

/** Lets the tests of one run share real parts. A part is started when a test first asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(await findFastFolder(), 'rtc-tests-'));
  // PostgreSQL runs as another user and has a folder of its own in it.
  await chmod(folder, 0o711);
  const server = await startSharedPartsServer(folder);
  project.provide('sharedPartsUrl', server.url);
  return async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  };
}

/** Room for PostgreSQL's log of at most 1 GB, and the databases of the tests that run at the same time. */
const DATA_BYTES = 3 * 1024 ** 3;

/**
 * Returns a folder in memory if the system has one with enough room: PostgreSQL copies a database ten times as fast there.
 * Nothing can be executed in it on some systems.
 */
async function findFastFolder(): Promise<string> {
  const memory = '/dev/shm';
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free >= DATA_BYTES ? memory : tmpdir();
}

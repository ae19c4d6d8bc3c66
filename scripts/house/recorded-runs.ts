import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPort } from '../../test/support/forwarding-server.ts';
import { createWholeBodyServer } from '../../test/support/whole-body-server.ts';
import type { Measured } from './limits.ts';

/*
 * Counts the files of src in which a function runs between a request and its last effect. Each run is a process of its own
 * (record-process.ts), which records with V8's precise coverage. A first run of the same request is not recorded: what
 * happens once in a process is not on the way of a request.
 */

/** Paths of files, by what passed them. */
export type Recorded = Readonly<Record<string, readonly string[]>>;

/** Resolves to the files that each run passed. */
export async function recordRuns(): Promise<Recorded> {
  const server = createWholeBodyServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(ONE_ROOM);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${readPort(server)}`;
  try {
    const [service, list, check] = await Promise.all([
      record(['service'], url),
      record(['rooms', 'list'], url),
      record(['cf', 'check', 'RSSMRA85T10A562S'], url),
    ]);
    return { ...service, ...list, ...check };
  } finally {
    server.close();
  }
}

export async function measureRuns(): Promise<Measured> {
  const recorded = await recordRuns();
  return Object.fromEntries(Object.entries(recorded).map(([name, files]) => [name, files.length]));
}

const ONE_ROOM = JSON.stringify({
  rooms: [{ name: 'demo', sid: 'RM_1', numParticipants: 2, maxParticipants: 0, creationTime: 1_767_225_600 }],
  nextCursor: null,
});

async function record(words: readonly string[], url: string): Promise<Recorded> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-house-'));
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, RTC_URL: url },
    ...{ RTC_API_KEY: 'key', RTC_API_SECRET: 'secret' },
  };
  try {
    const program = join(import.meta.dirname, 'record-process.ts');
    const { stderr } = await promisify(execFile)(process.execPath, [program, ...words], { env });
    return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Recorded;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

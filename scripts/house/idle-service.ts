import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Figure } from './print-figures.ts';
import { round } from './sources.ts';

/*
 * Counts what an idle instance asks of its database: a real service from its sources on SQLite, without a media server and
 * without requests. count-statements.ts is loaded before it, and counts the statements of node:sqlite. The first seconds
 * belong to the start and are not counted.
 */

const START_SECONDS = 10;
const SERVICE = join(import.meta.dirname, '../../test/server/webhooks/support/serve-process.ts');

type Counts = { readonly statements: number; readonly writes: number };

export async function countIdleStatements(seconds: number): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-house-idle-'));
  const countsFile = join(folder, 'counts.json');
  const hook = pathToFileURL(join(import.meta.dirname, 'count-statements.ts')).href;
  const child = spawn(process.execPath, ['--import', hook, SERVICE], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, STATEMENT_COUNTS: countsFile },
      // Nothing listens there. The default would be a media server of this machine.
      LIVEKIT_URL: 'ws://127.0.0.1:9',
      ...{ API_KEY: 'house', API_SECRET: 'house-secret-of-32-characters-ok', PORT: '0', DATA_DIR: folder },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
    await Promise.race([untilListening(child.stderr), ended]);
    await Promise.race([delay(START_SECONDS * 1000), ended]);
    const before = await readCounts(countsFile);
    await Promise.race([delay(seconds * 1000), ended]);
    const after = await readCounts(countsFile);
    return figuresOf(before, after, 60 / seconds);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function untilListening(output: NodeJS.ReadableStream): Promise<void> {
  const lines = createInterface({ input: output });
  // Reads the rest of the log, so that it does not fill the pipe.
  await new Promise<void>((resolve) => lines.on('line', (line) => /listening/i.test(line) && resolve()));
}

async function readCounts(file: string): Promise<Counts> {
  return JSON.parse(await readFile(file, 'utf8')) as Counts;
}

function figuresOf(before: Counts, after: Counts, perMinute: number): readonly Figure[] {
  const method = 'a real service on SQLite, without requests and without a media server';
  return [
    {
      what: 'statements a minute of an idle instance',
      measured: round((after.statements - before.statements) * perMinute, 0),
      atMost: 10,
      method,
    },
    {
      what: 'write locks a minute of an idle instance',
      measured: round((after.writes - before.writes) * perMinute, 0),
      atMost: 0,
      method: `${method}: BEGIN IMMEDIATE, and statements that write outside of one`,
    },
  ];
}

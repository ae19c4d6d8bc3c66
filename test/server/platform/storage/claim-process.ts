import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../../../../src/server/app/create-store.ts';
import { silentLog } from '../../../support/silent-log.ts';

/*
 * An instance of the store in its own process: `node claim-process.ts FILE NAME`. It opens the store, prints "ready" and
 * waits for one line of JSON {rooms, endEach}. It claims every room, prints the rooms that it got and the errors, and,
 * without `endEach`, waits to be killed.
 */
const [sqlitePath = '', name = ''] = process.argv.slice(2);

const store = await openStore({
  database: { sqlitePath },
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: (ms) => delay(ms) },
  log: silentLog,
});
process.stdout.write('ready\n');

process.stdin.setEncoding('utf8').once('data', async (line) => {
  const { rooms, endEach } = JSON.parse(String(line)) as { rooms: string[]; endEach: boolean };
  const got: string[] = [];
  const errors: string[] = [];
  for (const room of rooms) {
    try {
      const id = `${name} ${room}`;
      const claimed = { id, room, filepath: id, bucket: null, owner: name, claimUntil: 2000 };
      const claim = await store.recordings.claim(claimed, 1000);
      if (!claim.claimed) continue;
      got.push(room);
      if (endEach) await store.recordings.update(claim.recording, { status: 'stopped', stoppedAt: 1 });
    } catch (error) {
      errors.push(String(error));
    }
  }
  process.stdout.write(`${JSON.stringify({ got, errors })}\n`);
  if (endEach) await store.close();
});

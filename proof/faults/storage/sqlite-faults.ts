import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import {
  audit,
  FREE_BOUND_MS,
  fullDisk,
  injectFaults,
  mayMount,
  mountSmallDisk,
  RECOVERY_BOUND_MS,
  type StorageFault,
  startStorageStage,
} from './storage-stage.ts';

const SEED = 20_261_128;
/** A write waits 5 s for the lock. In the short run this only makes writes slow. */
const SECONDS = { long: 15, short: 1 } as const;
/** A write waits 5 s for the lock, after it waited as long for a commit. An event also waits for the batch before it. */
const BOUND_MS = 22_000;

export const sqliteFaults: Experiment = {
  name: 'sqlite-faults',
  title: 'SQLite is locked by another process, and its disk fills up',
  claim:
    'What was acknowledged is stored and delivered. What cannot be stored is refused with 503 and a problem, and nothing of it is stored. ' +
    `The service stores again within ${RECOVERY_BOUND_MS / 1_000} s after the fault, and requests that need no database take less than ${FREE_BOUND_MS / 1_000} s at p99 throughout.`,
  attack: [
    'One instance of the service has its SQLite file on a small disk of its own (a tmpfs). Callers ask for tokens, create, read and delete ' +
      'webhooks, of which some stay, list events and sessions, and post events of the media server; every request is sent once. Others check ' +
      'fiscal codes, which needs no database.',
    `Another process takes the write lock of the file for ${SECONDS.long} s (BEGIN IMMEDIATE). Afterwards another program fills the disk to its last ` +
      `byte, keeps it full for ${SECONDS.long} s, and then deletes its file.`,
    'At the end all events and webhooks are listed and compared with what callers were told and with what the receiver of webhooks got.',
  ],
  found: [
    'Writes that queued behind a locked file waited five seconds each, one after the other: a request could take half a minute to be refused. The time in the queue counts towards the limit now (59b1602).',
  ],
  notClaimed: [
    'A disk that loses what it was told to keep, or that returns other bytes than were written.',
    'That a request that is sent twice changes something once: a caller who repeats a refused request needs Idempotency-Key.',
    'A full disk if the experiment does not run as root, because only root can mount the small disk. The results then say that it was left out.',
  ],
  run: injectSqliteFaults,
};

async function injectSqliteFaults(context: ExperimentContext): Promise<Findings> {
  const disk = mountSmallDisk(context);
  const stage = await startStorageStage(context, { DATA_DIR: disk.folder }, new Random(SEED));
  const seconds = SECONDS[context.runSize];
  const faults = [
    lockedFile(disk.folder, seconds),
    ...(mayMount ? [fullDisk(disk, { seconds, boundMs: BOUND_MS })] : []),
  ];
  const { calls, figures } = await injectFaults(context, stage, faults);
  const unmounted = mayMount ? [] : ['The disk was not filled: the experiment did not run as root.'];
  return {
    figures: [...figures, ...(await audit(stage, calls, 'stored nothing'))],
    versions: { SQLite: process.versions.sqlite ?? '' },
    notes: [`Seed ${SEED}.`, ...unmounted],
  };
}

function lockedFile(folder: string, seconds: number): StorageFault {
  return {
    name: 'while another process holds the write lock',
    seconds,
    boundMs: BOUND_MS,
    effect: seconds > 5 ? 'refuses' : 'slows',
    begin: async () => {
      const other = new DatabaseSync(join(folder, 'rtc.sqlite'), { timeout: 5_000 });
      other.exec('begin immediate');
      return () => {
        other.exec('rollback');
        other.close();
      };
    },
  };
}

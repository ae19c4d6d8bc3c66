import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import {
  DISK_NOTE,
  findFigures,
  fullDisk,
  mayMount,
  mountSmallDisk,
  type StorageFault,
  startStorageStage,
} from './storage-stage.ts';

const SEED = 20_261_128;
/** A write waits 5 s for the lock. In the short run this only makes writes slow. */
const SECONDS = { long: 15, short: 1 } as const;
/** A write waits 5 s for the lock, after it waited as long for a commit. An event also waits for the batch before it. */
const BOUND_MS = 22_000;
export const sqliteFaults: Experiment = { name: 'sqlite-faults', run: injectSqliteFaults };

async function injectSqliteFaults(context: ExperimentContext): Promise<Findings> {
  const disk = mountSmallDisk(context);
  const stage = await startStorageStage(context, { DATA_DIR: disk.folder }, new Random(SEED));
  const seconds = SECONDS[context.runSize];
  const faults = [
    lockedFile(disk.folder, seconds),
    ...(mayMount ? [fullDisk(disk, { seconds, boundMs: BOUND_MS })] : []),
  ];
  return {
    figures: await findFigures(context, stage, { faults, refusals: 'stored nothing' }),
    versions: { SQLite: process.versions.sqlite ?? '' },
    notes: [`Seed ${SEED}.`, ...DISK_NOTE],
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

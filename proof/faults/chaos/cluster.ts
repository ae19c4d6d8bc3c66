import { randomBytes } from 'node:crypto';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { fakeClock } from '../../../test/support/parts/faketime.ts';
import { type PostgresPair, startPostgresPair } from '../../../test/support/parts/postgres-pair.ts';
import type { ProofContext } from '../../part.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';

/** Instances that share one PostgreSQL. Each has its own database proxy and its own clock. */
export type Cluster = {
  readonly fleet: Fleet;
  readonly database: PostgresPair;
  /** The running instances. Kills and replacements change this array. */
  readonly living: Member[];
  /** Starts another instance in place of a dead one, with the same proxy and clock. */
  readonly replace: (member: Member) => Promise<void>;
};

export type Member = FleetInstance & { readonly proxy: DatabaseProxy; readonly clockSeconds: number };

export async function startCluster(
  { cleanUp }: Pick<ProofContext, 'cleanUp'>,
  clocks: readonly number[],
): Promise<Cluster> {
  const database = await startPostgresPair();
  cleanUp(database.close);
  const fleet = await createFleet({ ENCRYPTION_KEY: randomBytes(32).toString('base64') });
  cleanUp(fleet.close);
  const start = async (proxy: DatabaseProxy, clockSeconds: number): Promise<Member> => {
    const instance = await fleet.start({
      DATABASE_URL: proxy.through(database.url()),
      ...(clockSeconds === 0 ? {} : fakeClock(clockSeconds)),
    });
    return { ...instance, proxy, clockSeconds };
  };
  const living: Member[] = [];
  for (const seconds of clocks) {
    const proxy = await startDatabaseProxy(() => Number(new URL(database.url()).port));
    cleanUp(proxy.close);
    living.push(await start(proxy, seconds));
  }
  return {
    fleet,
    database,
    living,
    replace: async ({ proxy, clockSeconds }) => {
      proxy.forget();
      proxy.release();
      living.push(await start(proxy, clockSeconds));
    },
  };
}

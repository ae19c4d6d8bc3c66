import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFleet, type FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import { fakeClockFrom } from '../../../test/support/parts/faketime.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import { type ExperimentContext, makeFolder } from '../../experiment.ts';
import { locateDatabase } from '../../support/both-engines.ts';
import { type Filler, openFiller } from '../../support/fill.ts';
import { mediaServerSettings, startDatabase } from '../../support/signed-client.ts';

/** Whose clock is wrong, from when on, and by how many seconds. */
export type ClockCase = {
  readonly name: string;
  readonly place: 'one of three instances' | 'PostgreSQL' | 'SQLite';
  /** In words: `an hour`. */
  readonly size: string;
  readonly since: 'at the start' | 'while running';
  readonly seconds: number;
};

export type ClockStage = Awaited<ReturnType<typeof startClockStage>>;

export const DAY_S = 86_400;
const RETENTION_DAYS = 30;
const REFUSED_ONCE = 'refused-once-';
const INSTANCES = { 'one of three instances': 3, PostgreSQL: 2, SQLite: 1 } as const;

/** Starts the instances of a case with what may and may not be deleted, a LiveKit that is right, and a receiver. */
export async function startClockStage(context: ExperimentContext, { place, since, seconds }: ClockCase) {
  const folder = await makeFolder(context);
  await chmod(folder, 0o755);
  const file = join(folder, 'clock');
  /** The file changes at once, because the library may read it at any time. */
  const setClock = async (by: number): Promise<void> => {
    await writeFile(`${file}.new`, `${by < 0 ? '' : '+'}${by}\n`);
    await rename(`${file}.new`, file);
  };
  await setClock(0);
  const faked = fakeClockFrom(file);
  const environment = place === 'PostgreSQL' ? faked : {};
  const database = place === 'SQLite' ? {} : { DATABASE_URL: await startDatabase(context, { environment }) };
  const port = await freePort();
  const livekit = context.cleanUp(
    await startLivekit({ webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` }),
  );
  const fleet = context.cleanUp(
    await createFleet({
      ...database,
      ...mediaServerSettings(livekit),
      // The same address. As one of another machine it is a clock that the service may ask, which 127.0.0.1 is not.
      LIVEKIT_URL: livekit.url.replace('127.0.0.1', '0.0.0.0'),
      LIVEKIT_PUBLIC_URL: livekit.url,
      EVENT_RETENTION: `${RETENTION_DAYS}`,
      AUDIT_RETENTION: `${RETENTION_DAYS}`,
    }),
  );
  const refused = new Set<string>();
  const receiver = context.cleanUp(
    await startReceiver((_request, response, { body: { room } }) => {
      const isRefused = room.name.startsWith(REFUSED_ONCE) && !refused.has(room.name);
      if (isRefused) refused.add(room.name);
      response.writeHead(isRefused ? 503 : 200).end();
    }),
  );
  const first = await fleet.start();
  await fleet.call(first, 'POST', '/v1/webhooks', { url: receiver.url, events: ['room_finished'] });
  await first.stop();
  const filler = context.cleanUp(await openFiller(locateDatabase(fleet, database)));
  await storeRows(filler, Math.abs(seconds));
  const isSkewed = (index: number): boolean => place !== 'PostgreSQL' && index === INSTANCES[place] - 1;
  if (since === 'at the start') await setClock(seconds);
  const instances: FleetInstance[] = [];
  for (let index = 0; index < INSTANCES[place]; index += 1) {
    const own = index === 0 ? { PORT: `${port}` } : {};
    instances.push(await fleet.start({ ...own, ...(isSkewed(index) ? faked : {}) }));
  }
  return {
    ...{ instances, livekit, receiver, setClock, isSkewed, keys: fleet.keys, refusedOnce: REFUSED_ONCE },
    /** Counts the rows that are not due and are gone. */
    countDeleted: async () => KINDS.length - (await countRows(filler, 'kept')),
    isPurged: async () => (await countRows(filler, 'due')) === 0,
    /** The lines in which the instances say that a clock is wrong. */
    lines: () =>
      instances.flatMap(({ output }) =>
        output()
          .split('\n')
          .filter((line) => /clock/.test(line)),
      ),
  };
}

type Values = Readonly<Record<string, string | number>>;

/**
 * A row of a table from which something is deleted by its time. `at` is its end, `over` when it may be deleted. A few tables
 * represent all, because one place decides about every deletion (test/architecture.test.ts).
 */
type Kind = {
  readonly table: string;
  readonly key: string;
  readonly values: (row: { readonly at: number; readonly over: number; readonly place: number }) => Values;
};

const KINDS: readonly Kind[] = [
  {
    table: 'events',
    key: 'id',
    values: ({ at, place }) => ({
      ...{ position: place, sourceId: `EV_${place}`, type: 'room_finished', payload: '{}' },
      ...{ occurredAt: at, createdAt: at },
    }),
  },
  {
    table: 'auditEntries',
    key: 'id',
    values: ({ at }) => ({
      ...{ occurredAt: at, keyId: 'root', method: 'POST', path: '/v1/rooms', ids: '[]' },
      ...{ requestId: 'old', status: 201 },
    }),
  },
  {
    table: 'plans',
    key: 'subject',
    values: ({ over }) => ({
      id: `pln_${over}`,
      settings: '{}',
      createdBy: 'root',
      createdAt: 1,
      updatedAt: 1,
      deletedAt: over,
      changeNumber: 0,
    }),
  },
];

/** Stores a row of each kind whose time is over, and one that a clock which is ahead by `seconds` would take for that. */
async function storeRows({ run }: Filler, seconds: number): Promise<void> {
  const now = Date.now();
  const retentionMs = RETENTION_DAYS * DAY_S * 1_000;
  const keptMs = Math.min((seconds * 1_000) / 2, retentionMs);
  let place = 0;
  for (const { table, key, values } of KINDS) {
    for (const [name, over] of [
      ['due', now - DAY_S * 1_000],
      ['kept', now + keptMs],
    ] as const) {
      place += 1;
      const row: Values = {
        [key]: `${name}-${place}`,
        ...values({ at: over - retentionMs, over, place }),
      };
      const columns = Object.keys(row).map((column) => `"${column}"`);
      const literals = Object.values(row).map((value) => (typeof value === 'string' ? `'${value}'` : value));
      await run(`insert into "${table}" (${columns.join(', ')}) values (${literals.join(', ')})`);
    }
  }
  await run(`update counters set value = ${place} where name = 'events'`);
  // As if something was deleted an hour ago, so that no pause forbids it.
  await run(`update counters set value = ${now - 3_600_000} where name = 'purgedAt'`);
}

async function countRows({ count }: Filler, name: 'due' | 'kept'): Promise<number> {
  const counts = await Promise.all(KINDS.map(({ table, key }) => count(table, `"${key}" like '${name}-%'`)));
  return counts.reduce((sum, one) => sum + one, 0);
}

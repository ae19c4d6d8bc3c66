import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createFleet, type FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { startHaproxy } from '../../../test/support/parts/haproxy.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, type Figures, named, observed } from '../../figures.ts';
import { type EngineSettings, locateDatabase } from '../../support/both-engines.ts';
import { startEmbeddedMedia } from '../../support/embedded-media.ts';
import { openFiller } from '../../support/fill.ts';
import { findWithin } from '../../support/poll.ts';
import { createSignedClient, mediaServerSettings, startDatabase } from '../../support/signed-client.ts';
import { chooseBuilds, exportBuild } from './builds.ts';
import { startTraffic } from './traffic.ts';

export const mixedVersions: Experiment = { name: 'mixed-versions', run: mixVersions };

/** Seconds. The shipped configuration of HAProxy needs it. */
const SHUTDOWN_DELAY = 5;
const BALANCER_DELAY_MS = 2_500;
/** How long the builds serve after each replacement. */
const SERVE_MS = { long: 12_000, short: 1_500 } as const;

/** The older and the newer build. */
type Build = 'older' | 'newer';

/**
 * The builds at the start, and those that replace them one by one: on PostgreSQL a newer one joins two older ones, they are
 * replaced by newer ones, all by older ones, and these by newer ones.
 */
const TOURS = {
  PostgreSQL: {
    start: ['older', 'older', 'newer'],
    long: ['newer', 'newer', 'older', 'older', 'older', 'newer', 'newer', 'newer'],
    short: ['newer', 'older'],
  },
  SQLite: { start: ['older'], long: ['newer', 'older', 'newer', 'older'], short: ['newer'] },
} as const;

/** All instances have to have had a new key for a minute, and one that has ended counts for another minute (key-rotation.ts). */
const REENCRYPTED = { everyMs: 1_000, withinMs: 240_000 };

/** Short times for steps that take seconds on a real recorder. */
const TIMINGS = { startMs: 100, startResponseMs: 20, recorderJoinMs: 50, activeMs: 200, finishMs: 200 };

type Programs = Readonly<Record<Build, string>> & {
  /** The program of the newest commit with another schema: it must refuse to start. */
  readonly otherTables: string | undefined;
};

async function mixVersions(context: ExperimentContext): Promise<Findings> {
  const { older, otherTables, gaps } = await chooseBuilds();
  for (const gap of gaps) context.report(gap);
  const programs: Programs = {
    older: await exportBuild(context, older),
    newer: await exportBuild(context, undefined),
    otherTables: otherTables === undefined ? undefined : await exportBuild(context, otherTables),
  };
  const url = await startDatabase(context);
  const [onPostgres, onSqlite] = await Promise.all([
    mixOnPostgres(context, programs, url),
    mixOnSqlite(context, programs),
  ]);
  return {
    figures: [...named('PostgreSQL', onPostgres), ...named('SQLite', onSqlite)],
    versions: {
      ...(older === undefined ? {} : { 'older build': older.slice(0, 8) }),
      ...(otherTables === undefined ? {} : { 'build with other tables': otherTables.slice(0, 8) }),
    },
    notes: gaps,
  };
}

/** Replaces three instances one by one, while requests reach all of them through HAProxy. */
async function mixOnPostgres(context: ExperimentContext, programs: Programs, url: string) {
  const { runSize, report } = context;
  const stage = await startStage(context, programs, { DATABASE_URL: url });
  const ports = [`${await freePort()}`, `${await freePort()}`, `${await freePort()}`] as const;
  for (const [index, build] of TOURS.PostgreSQL.start.entries()) await stage.start(build, ports[index] ?? '');
  const proxy = context.cleanUp(await startHaproxy(ports.map((port) => `127.0.0.1:${port}`)));
  stage.tellMedia(proxy.insideUrl);
  await delay(BALANCER_DELAY_MS);
  const traffic = await startTraffic(context, { ...stage, url: proxy.url, insideUrl: proxy.insideUrl });
  const over = new AbortController();
  const running = traffic.run(over.signal);
  const replaceAll = async (): Promise<Figures> => {
    let unfinished = 0;
    for (const [index, build] of TOURS.PostgreSQL[runSize].entries()) {
      // By then every instance was started with the newest key.
      if (index % ports.length === 0) {
        if (index > 0 && !(await stage.isReencrypted())) unfinished += 1;
        stage.addEncryptionKey();
      }
      await stage.replace(build);
      report(`PostgreSQL: replacement ${index + 1}, by the ${build} build`);
      await delay(SERVE_MS[runSize]);
    }
    const isRefused = await stage.isOtherRefused();
    return [
      observed('replacements', TOURS.PostgreSQL[runSize].length),
      exactly('changes of the encryption key that did not end', unfinished, 0),
      ...(isRefused === undefined
        ? []
        : [exactly('starts with other tables while all serve', isRefused ? 0 : 1, 0)]),
    ];
  };
  const replaced = await replaceAll().finally(() => over.abort());
  await running;
  const judged = await traffic.judge(report);
  return [...replaced, ...judged, ...(await stage.startOther())];
}

/** Replaces the only instance, so that nobody calls between the builds. */
async function mixOnSqlite(context: ExperimentContext, programs: Programs) {
  const { runSize, report } = context;
  const stage = await startStage(context, programs, {});
  const port = `${await freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  await stage.start(TOURS.SQLite.start[0], port);
  stage.tellMedia(url);
  const traffic = await startTraffic(context, { ...stage, url, insideUrl: url });
  await traffic.run(AbortSignal.timeout(SERVE_MS[runSize]));
  for (const [index, build] of TOURS.SQLite[runSize].entries()) {
    if (index === 0) stage.addEncryptionKey();
    await stage.replace(build);
    report(`SQLite: replacement ${index + 1}, by the ${build} build`);
    await traffic.run(AbortSignal.timeout(SERVE_MS[runSize]));
  }
  const isReencrypted = runSize === 'short' || (await stage.isReencrypted());
  const judged = await traffic.judge(report);
  return [
    observed('replacements', TOURS.SQLite[runSize].length),
    exactly('changes of the encryption key that did not end', isReencrypted ? 0 : 1, 0),
    ...judged,
    ...(await stage.startOther()),
  ];
}

/** A media server with a recorder that broadcasts nothing, and a fleet of both builds. */
async function startStage(context: ExperimentContext, programs: Programs, settings: EngineSettings) {
  const { cleanUp, report } = context;
  const webhookUrls: string[] = [];
  const { media, at } = await startEmbeddedMedia(context, { webhookUrls, timings: TIMINGS });
  const mediaServer = at(media.url);
  const fleet = cleanUp(
    await createFleet({
      ...{ ...settings, ...mediaServerSettings(mediaServer), BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8' },
      ...{ TRUST_PROXY: '1', SHUTDOWN_DELAY: `${settings.DATABASE_URL === undefined ? 0 : SHUTDOWN_DELAY}` },
    }),
  );
  let encryptionKeys = [makeKey()];
  /** In the order of their starts. */
  const instances: { readonly build: Build; readonly port: string; readonly instance: FleetInstance }[] = [];
  const start = async (build: Build, port: string): Promise<void> => {
    const own = { PORT: port, ENCRYPTION_KEY: encryptionKeys.join(',') };
    instances.push({ build, port, instance: await fleet.start(own, programs[build]) });
  };
  /** Starts the build with other tables; resolves to whether it ends with a clear message. Undefined without such a build. */
  const isOtherRefused = async (): Promise<boolean | undefined> => {
    if (programs.otherTables === undefined) return undefined;
    const own = { ENCRYPTION_KEY: encryptionKeys.join(',') };
    const message = await fleet.start(own, programs.otherTables).then(
      () => 'the build with other tables serves',
      (error: unknown) => String(error),
    );
    const isClear = REFUSAL.test(message);
    if (!isClear) report(message);
    return isClear;
  };
  return {
    ...{ media, mediaKeys: mediaServer, keys: fleet.keys, start, isOtherRefused },
    tellMedia: (url: string) => webhookUrls.push(`${url}/livekit/webhook`),
    addEncryptionKey: () => {
      encryptionKeys = [makeKey(), ...encryptionKeys.slice(0, 1)];
    },
    /** Replaces the instance of the other build that has run for longest. */
    replace: async (build: Build): Promise<void> => {
      const index = Math.max(
        0,
        instances.findIndex((one) => one.build !== build),
      );
      const [replaced] = instances.splice(index, 1);
      await replaced?.instance.stop();
      await start(build, replaced?.port ?? '');
    },
    /** Whether every secret is encrypted with the newest key after some minutes, as `rtc doctor` asks. */
    isReencrypted: async (): Promise<boolean> => {
      const client = createSignedClient(instances[0]?.instance.url ?? '', fleet.keys, 1);
      const isDone = await findWithin(REENCRYPTED, async () => {
        const { text } = await client.call('POST', '/v1/self-check');
        return REENCRYPTED_TEXT.test(text);
      });
      await client.close();
      return isDone === true;
    },
    /** Stops all instances, and lets the build with other tables start on what they have stored. */
    startOther: async (): Promise<Figures> => {
      await Promise.all(instances.map(({ instance }) => instance.stop()));
      const before = await hashDatabase(locateDatabase(fleet, settings));
      const isRefused = await isOtherRefused();
      if (isRefused === undefined) return [];
      const after = await hashDatabase(locateDatabase(fleet, settings));
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
        (table) => before.get(table) !== after.get(table),
      );
      if (changed.length > 0) report(`changed: ${changed.join(', ')}`);
      return [
        exactly('starts with other tables without a clear refusal', isRefused ? 0 : 1, 0),
        observed('tables', before.size),
        exactly('tables that such a start changed', changed.length, 0),
      ];
    },
  };
}

/** What the service says when a database is not of its tables. */
const REFUSAL =
  /database was made by an? (?:newer|unreleased) version .* it has the migration .* nothing was changed/;
const REENCRYPTED_TEXT = /every stored secret is encrypted with the first one/;

function makeKey(): string {
  return randomBytes(32).toString('base64');
}

/** Returns a hash of the definition and of all rows of each table. */
async function hashDatabase(
  database: ReturnType<typeof locateDatabase>,
): Promise<ReadonlyMap<string, string>> {
  const filler = await openFiller(database);
  const hashes = new Map<string, string>();
  for (const { name, definition } of await filler.listTables()) {
    const rows = (await filler.read(`select * from "${name}"`)).map((row) => JSON.stringify(row)).sort();
    const text = JSON.stringify([definition, rows]);
    hashes.set(name, createHash('sha256').update(text).digest('hex'));
  }
  await filler.close();
  return hashes;
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createFleet, type Fleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { type Livekit, startLivekit } from '../../test/support/parts/livekit.ts';
import { listDescendants } from '../../test/support/process-group.ts';
import type { ExperimentContext, Findings } from '../experiment.ts';
import { exactly } from '../figures.ts';
import { findWithin, lookEvery } from '../support/poll.ts';
import {
  createSignedClient,
  mediaServerSettings,
  type SignedClient,
  startDatabase,
} from '../support/signed-client.ts';

export type DatabaseName = 'SQLite' | 'PostgreSQL';

/** A service with a real media server, and every secret that the service was given. */
export type Target = {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  readonly livekit: Livekit;
  /** Signs with the root key. */
  readonly client: SignedClient;
  readonly planted: Planted[];
  /** Returns everything that the service has logged, at level `debug`. */
  readonly log: () => string;
  /** Every process of the run. */
  readonly processes: ReturnType<typeof watchProcesses>;
  /** PostgreSQL's URL; undefined on SQLite. */
  readonly databaseUrl: string | undefined;
};

type TargetOptions = {
  readonly database: DatabaseName;
  /** Overrides the settings of the service. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** Starts a service that has secrets, attacks it, and then searches everything that it wrote for them. */
export async function attackTarget(
  context: ExperimentContext,
  options: TargetOptions,
  attack: (target: Target) => Promise<Findings>,
): Promise<Findings> {
  const target = await startTarget(context, options);
  await plantSecrets(target);
  const { figures, notes = [], ...others } = await attack(target);
  const scan = await scanForSecrets(target);
  for (const line of scan.found) context.report(`found: ${line}`);
  const found = exactly(`secrets found (of ${target.planted.length} planted)`, scan.found.length, 0);
  return { ...others, figures: [...figures, found], notes: [...notes, scanNote(scan)] };
}

async function startTarget(
  { cleanUp }: ExperimentContext,
  { database, environment }: TargetOptions,
): Promise<Target> {
  const processes = cleanUp(watchProcesses());
  const livekit = cleanUp(await startLivekit());
  const databaseUrl = database === 'PostgreSQL' ? await startDatabase({ cleanUp }) : undefined;
  const encryptionKey = randomBytes(32);
  const chunks: string[] = [];
  const s3Secret = randomBytes(20).toString('hex');
  const fleet = cleanUp(
    await createFleet(
      {
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ENCRYPTION_KEY: encryptionKey.toString('base64'),
        ...mediaServerSettings(livekit),
        S3_BUCKET: 'nowhere',
        S3_ENDPOINT: 'http://127.0.0.1:9',
        S3_ACCESS_KEY: 'access',
        S3_SECRET_KEY: s3Secret,
        RECORDER_PATIENCE: '1',
        LOG_LEVEL: 'debug',
        METRICS: 'signed',
        ...environment,
      },
      (text) => chunks.push(text),
    ),
  );
  const instance = await fleet.start();
  const password =
    databaseUrl === undefined ? [] : [{ name: 'DATABASE_URL', secret: new URL(databaseUrl).password }];
  return {
    ...{ fleet, instance, livekit, databaseUrl, processes },
    client: cleanUp(createSignedClient(instance.url, fleet.keys, 8)),
    planted: [
      { name: 'API_SECRET', secret: fleet.keys.apiSecret },
      { name: 'LIVEKIT_API_SECRET', secret: livekit.apiSecret },
      { name: 'ENCRYPTION_KEY', secret: encryptionKey.toString('base64') },
      { name: 'S3_SECRET_KEY', secret: s3Secret },
      ...password,
    ],
    log: () => chunks.join(''),
  };
}

type Planted = { readonly name: string; readonly secret: string };

/** Lets the service create secrets: of a webhook (twice) and of an API key. */
async function plantSecrets({ fleet, instance, planted }: Target): Promise<void> {
  const readSecret = (created: unknown): string => {
    const { secret }: { secret?: unknown } = Object(created);
    if (typeof secret !== 'string') throw new Error('the service made something without a secret');
    return secret;
  };
  const url = 'https://example.com/planted';
  const webhook = await fleet.call(instance, 'POST', '/v1/webhooks', { url });
  const key = await fleet.call(instance, 'POST', '/v1/keys', { name: 'planted', scopes: ['read'] });
  planted.push({ name: 'the secret of a webhook', secret: readSecret(webhook) });
  planted.push({ name: 'the secret of an API key', secret: readSecret(key) });
}

type Scan = {
  /** The places that were searched, with their size in bytes. */
  readonly places: readonly (readonly [name: string, bytes: number])[];
  readonly found: readonly string[];
};

/** Searches all places for each secret: as text, in hexadecimal and in base64. */
async function scanForSecrets(target: Target): Promise<Scan> {
  const places = await readPlaces(target);
  const found = places.flatMap(([place, bytes]) =>
    target.planted
      .filter(({ secret }) => listForms(secret).some((form) => bytes.includes(form)))
      .map(({ name }) => `${name} in ${place}`),
  );
  return { places: places.map(([name, bytes]) => [name, bytes.length]), found };
}

/** A secret as text, in base64, in hexadecimal and in a URL. */
function listForms(secret: string): readonly string[] {
  const text = Buffer.from(secret);
  const bare = secret.replace(/^whsec_/, '');
  const decoded = Buffer.from(bare, 'base64');
  return [
    secret,
    bare,
    text.toString('base64'),
    text.toString('hex'),
    decoded.toString('hex'),
    encodeURIComponent(secret),
  ];
}

async function readPlaces(target: Target): Promise<readonly (readonly [string, Buffer])[]> {
  const { databaseUrl, fleet, processes } = target;
  const folder = dirname(fleet.dataDir);
  const seen = processes.seen();
  const files = await filesIn(folder);
  return [
    ['the log', Buffer.from(target.log())],
    ['the metrics', Buffer.from((await target.client.call('GET', '/metrics')).text)],
    [`arguments and titles of ${seen.length} processes`, Buffer.concat(seen)],
    [`${files.length} files of the database and its folder`, Buffer.concat(files)],
    ...(databaseUrl === undefined
      ? []
      : [['the dump of PostgreSQL', await dumpDatabase(databaseUrl)] as const]),
  ];
}

/** Returns a note for the document that lists the searched places. */
function scanNote({ places }: Scan): string {
  return `Searched: ${places.map(([name, bytes]) => `${name} (${Math.ceil(bytes / 1000)} kB)`).join(', ')}.`;
}

/** Includes SQLite's files and its write-ahead log. */
async function filesIn(folder: string): Promise<readonly Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return await Promise.all(files.map((file) => readFile(file)));
}

async function dumpDatabase(databaseUrl: string): Promise<Buffer> {
  const url = new URL(databaseUrl);
  const { stdout } = await promisify(execFile)(
    'pg_dump',
    ['--host', url.hostname, '--port', url.port, '--username', url.username, url.pathname.slice(1)],
    { env: { ...process.env, PGPASSWORD: url.password }, encoding: 'buffer', maxBuffer: 2 ** 31 - 1 },
  );
  return stdout;
}

const SAMPLE_MS = 100;

/**
 * Reads the arguments and titles of all descendants of this process ten times a second, also of those that end later. It may
 * miss a process that ends sooner.
 */
function watchProcesses() {
  const seen = new Map<string, Buffer>();
  const sampler = lookEvery(SAMPLE_MS, async () => {
    for (const { pid } of await listDescendants(process.pid)) {
      const [words, title] = await Promise.all([
        readProcessFile(pid, 'cmdline'),
        readProcessFile(pid, 'comm'),
      ]);
      const both = Buffer.concat([words, Buffer.from('\n'), title]);
      seen.set(`${pid} ${both.toString('latin1')}`, both);
    }
  });
  return { seen: () => [...seen.values()], close: sampler.close };
}

/** Returns an empty buffer if the process has ended. */
async function readProcessFile(pid: number, file: string): Promise<Buffer> {
  return await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0));
}

/** Registers a webhook; resolves to its id. Undefined if the URL is refused. */
export async function register({ fleet, instance }: Pick<Target, 'fleet' | 'instance'>, url: string) {
  const { id } = Object(await fleet.call(instance, 'POST', '/v1/webhooks', { url }));
  return typeof id === 'string' ? id : undefined;
}

type Attempt = { readonly statusCode: number | null; readonly error: string | null };

/** Resolves to the first attempt to deliver the end of a room to a webhook; to undefined if none is made. */
export async function findFirstAttempt(
  { fleet, instance }: Pick<Target, 'fleet' | 'instance'>,
  id: string,
): Promise<Attempt | undefined> {
  return await findWithin({ everyMs: 50, withinMs: 60_000 }, async () => {
    const path = `/v1/webhooks/${id}/deliveries?limit=200`;
    const { deliveries = [] }: { deliveries?: readonly Delivery[] } = Object(
      await fleet.call(instance, 'GET', path),
    );
    const attempted = deliveries.filter(
      ({ event, attempts }) => event === 'room_finished' && attempts.length > 0,
    );
    return attempted.at(-1)?.attempts[0];
  });
}

type Delivery = { readonly event: string; readonly attempts: readonly Attempt[] };

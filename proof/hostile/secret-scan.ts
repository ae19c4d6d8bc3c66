import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { signatureHeaders } from '../../test/support/sign.ts';
import { findCoreFiles } from './core-files.ts';
import type { Target } from './target.ts';

export type Planted = { readonly name: string; readonly secret: string };

/** Lets the service create secrets: of a webhook (twice) and of an API key. */
export async function plantSecrets({ fleet, instance, planted }: Target): Promise<void> {
  const secretOf = (created: unknown): string => {
    const { secret }: { secret?: unknown } = Object(created);
    if (typeof secret !== 'string') throw new Error('the service made something without a secret');
    return secret;
  };
  const url = 'https://example.com/planted';
  const webhook = await fleet.call(instance, 'POST', '/v1/webhooks', { url });
  const key = await fleet.call(instance, 'POST', '/v1/keys', { name: 'planted', scopes: ['read'] });
  planted.push({ name: 'the secret of a webhook', secret: secretOf(webhook) });
  planted.push({ name: 'the secret of an API key', secret: secretOf(key) });
}

export type Scan = {
  /** The places that were searched, with their size in bytes. */
  readonly places: readonly (readonly [name: string, bytes: number])[];
  readonly found: readonly string[];
};

/** Searches all places for each secret: as text, in hexadecimal and in base64. */
export async function scanForSecrets(target: Target): Promise<Scan> {
  const places = await readPlaces(target);
  const found = places.flatMap(([place, bytes]) =>
    target.planted
      .filter(({ secret }) => formsOf(secret).some((form) => bytes.includes(form)))
      .map(({ name }) => `${name} in ${place}`),
  );
  return { places: places.map(([name, bytes]) => [name, bytes.length]), found };
}

/** A secret as text, in base64, in hexadecimal and in a URL. */
export function formsOf(secret: string): readonly string[] {
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
  const { databaseUrl, fleet, processes, startedMs } = target;
  const folder = dirname(fleet.dataDir);
  const seen = processes.seen();
  const files = await filesIn(folder);
  const cores = await findCoreFiles([folder, fleet.dataDir], startedMs);
  return [
    ['the log', Buffer.from(target.log())],
    ['the metrics', await metricsOf(target)],
    [`arguments and titles of ${seen.length} processes`, Buffer.concat(seen)],
    [`${files.length} files of the database and its folder`, Buffer.concat(files)],
    [`${cores.length} core files`, Buffer.concat(cores.map(([, bytes]) => bytes))],
    ...(databaseUrl === undefined ? [] : [['the dump of PostgreSQL', await dumpOf(databaseUrl)] as const]),
  ];
}

/** Returns a note for the document that lists the searched places. */
export function scanNote({ places }: Scan): string {
  return `Searched: ${places.map(([name, bytes]) => `${name} (${Math.ceil(bytes / 1000)} kB)`).join(', ')}.`;
}

async function metricsOf({ fleet, instance }: Target): Promise<Buffer> {
  const signing = { ...fleet.keys, timestamp: Math.floor(Date.now() / 1000) };
  const headers = signatureHeaders({ method: 'GET', path: '/metrics' }, signing);
  const response = await fetch(`${instance.url}/metrics`, { headers });
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Includes SQLite's files and its write-ahead log. */
async function filesIn(folder: string): Promise<readonly Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return await Promise.all(files.map((file) => readFile(file)));
}

async function dumpOf(databaseUrl: string): Promise<Buffer> {
  const url = new URL(databaseUrl);
  const { stdout } = await promisify(execFile)(
    'pg_dump',
    ['--host', url.hostname, '--port', url.port, '--username', url.username, url.pathname.slice(1)],
    { env: { ...process.env, PGPASSWORD: url.password }, encoding: 'buffer', maxBuffer: 2 ** 31 - 1 },
  );
  return stdout;
}

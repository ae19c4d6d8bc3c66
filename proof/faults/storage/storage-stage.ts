import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type MediaKeys,
  mediaWebhook,
  roomFinished,
} from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Cleaning, ExperimentContext } from '../../experiment.ts';
import { atLeast, atMost, exactly, type Figure, type Figures, named, none, observed } from '../../figures.ts';
import {
  callUntil,
  type Ledger,
  MEDIA_KEY,
  type Operation,
  STORED_OPERATIONS,
} from '../../support/callers.ts';
import { type FaultStage, type InjectedFault, injectFaults } from '../../support/faults.ts';
import { namesOfStoredEvents, type SignedClient, startService } from '../../support/signed-client.ts';
import { percentile } from '../../support/statistics.ts';
import { countUndelivered, startDeliveryObserver } from '../chaos/delivery-observer.ts';

const STORED_CALLERS = 8;
const FREE_CALLERS = 2;
const PAUSE_MS = 40;
const WEBHOOKS = 2;

/** One instance of the service, callers, and a receiver of its webhooks. */
type StorageStage = Awaited<ReturnType<typeof startStorageStage>>;
type Calls = { readonly stored: Ledger; readonly free: Ledger };

export async function startStorageStage(
  { cleanUp }: Cleaning,
  environment: Readonly<Record<string, string>>,
  random: Random,
) {
  const media: MediaKeys = { apiKey: MEDIA_KEY, apiSecret: randomBytes(24).toString('hex') };
  const mediaKeys = { LIVEKIT_API_KEY: media.apiKey, LIVEKIT_API_SECRET: media.apiSecret };
  const { fleet, instance, client } = await startService(
    { cleanUp },
    { environment: { ...mediaKeys, ...environment }, connections: STORED_CALLERS + FREE_CALLERS + 2 },
  );
  const observer = cleanUp(await startDeliveryObserver({ fleet, instance, webhooks: WEBHOOKS }));
  const book = new WebhookBook();
  const shared = { outside: client, inside: client, random, pauseMs: PAUSE_MS, mediaSecret: media.apiSecret };
  return {
    ...{ fleet, instance, client, observer, book },
    /** Runs callers that need the database and callers that do not, until the signal. */
    call: async (signal: AbortSignal, name: string) => {
      const prefix = name.replaceAll(/[^a-z0-9]+/g, '-');
      const operations = [...STORED_OPERATIONS, keepWebhooks(book)];
      const [stored, free] = await Promise.all([
        callUntil(signal, { ...shared, prefix, operations, callers: STORED_CALLERS }),
        callUntil(signal, { ...shared, prefix, operations: [CHECK_FISCAL_CODE], callers: FREE_CALLERS }),
      ]);
      return { stored, free };
    },
    /** Whether the service accepts a write. */
    acceptsWrites: () => acceptsWrites(client, media),
  };
}

async function acceptsWrites(client: SignedClient, media: MediaKeys): Promise<boolean> {
  const event = roomFinished(`look-${performance.now()}`);
  const { status } = await client.post('/livekit/webhook', mediaWebhook(event, media));
  return status === 200;
}

export type StorageFault = Omit<InjectedFault, 'after'> & {
  /** Maximum response time during the fault. */
  readonly boundMs: number;
  /** Whether the fault prevents writes, or only makes them slow. */
  readonly effect: 'refuses' | 'slows';
};

const RECOVERY_BOUND_MS = 15_000;
const FREE_BOUND_MS = 1_000;

/** Runs callers before the faults, and through each fault and the time after it; then compares what is stored. */
export async function findFigures(
  context: ExperimentContext,
  stage: StorageStage,
  { faults, refusals }: { readonly faults: readonly StorageFault[]; readonly refusals: Refusals },
): Promise<Figures> {
  const stages = await injectFaults(context, {
    faults: faults.map((fault) => ({ ...fault, after: `after the fault "${fault.name}"` })),
    isWorking: stage.acceptsWrites,
    call: async (name, seconds) => {
      const seen = await stage.call(AbortSignal.timeout(seconds * 1000), name);
      for (const line of surprising(seen)) context.report(line);
      return seen;
    },
  });
  return [...stages.flatMap(stageFigures), ...(await audit(stage, stages, refusals))];
}

type Stage = FaultStage<Calls, StorageFault>;

const REFUSAL = /: 503 .*"urn:problem-type:rtc:storage-unavailable"/;

function others({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !REFUSAL.test(line));
}

function surprising({ stored, free }: Calls): readonly string[] {
  const lines = [...others(stored), ...stored.wrongSuccesses, ...free.failures];
  return lines.slice(0, 5).map((line) => line.slice(0, 300));
}

function stageFigures({ name, seen, injected }: Stage): Figures {
  if (injected !== undefined) return named(name, faultFigures(seen, injected));
  const { stored, free } = seen;
  return named(name, [
    observed('requests', stored.requests + free.requests),
    exactly('requests that failed', stored.failures.length + free.failures.length, 0),
    exactly('successes that were not true', stored.wrongSuccesses.length, 0),
  ]);
}

function faultFigures(
  { stored, free }: Calls,
  { fault: { effect, boundMs }, recoveredMs }: NonNullable<Stage['injected']>,
): Figures {
  const refused = { name: 'refused with 503 and a problem', bound: 1 };
  const measured = stored.failures.length - others(stored).length;
  const ms = (ledger: Ledger, part: number): number => Math.round(percentile(ledger.timesMs, part));
  const unit = ' ms';
  return [
    observed('requests that need the database', stored.requests),
    effect === 'refuses' ? atLeast({ ...refused, measured }) : observed(refused.name, measured),
    exactly('other failures', others(stored).length, 0),
    exactly('successes that were not true', stored.wrongSuccesses.length, 0),
    atMost({ name: 'slowest answer', measured: ms(stored, 1), bound: boundMs, unit }),
    observed('requests that need no database', free.requests),
    exactly('failures of those', free.failures.length, 0),
    atMost({ name: 'p99 of those', measured: ms(free, 0.99), bound: FREE_BOUND_MS, unit }),
    atMost({ name: 'first write after the fault', measured: recoveredMs, bound: RECOVERY_BOUND_MS, unit }),
  ];
}

/** Whether the outcome of a refused write is known. A connection that breaks during a commit leaves it unknown. */
type Refusals = 'stored nothing' | 'may have been stored';

/** Compares the stored data with what callers and the webhook's receiver saw. */
async function audit(stage: StorageStage, stages: readonly Stage[], refusals: Refusals): Promise<Figures> {
  const { observer, fleet, instance } = stage;
  const unsettled = await countUndelivered(fleet, instance);
  const stored = await namesOfStoredEvents(stage.client);
  const names = new Set(stored);
  await observer.until(({ completeAt }) => [...names].every((name) => completeAt.has(name)));
  const { completeAt, wrongSignatures } = observer.tally();
  const reported = stages.flatMap(({ seen }) => seen.stored.reported);
  const called = [...names].filter((name) => !name.startsWith('look-'));
  const refusedButStored = called.length - new Set(reported).size;
  const webhooks = await auditWebhooks(stage);
  const onlyRefused = (name: string, count: number): Figure =>
    refusals === 'stored nothing' ? exactly(name, count, 0) : observed(name, count);
  return [
    observed('events acknowledged', reported.length),
    none('acknowledged events that are not stored', reported, (one) => !names.has(one)),
    exactly('events stored twice', stored.length - names.size, 0),
    onlyRefused('events that were refused, and are stored', refusedButStored),
    exactly('stored events that a webhook never got', countMissing(names, completeAt), 0),
    exactly('events that a webhook got, and are not stored', countMissing(completeAt.keys(), names), 0),
    exactly('deliveries with a wrong signature', wrongSignatures, 0),
    exactly('webhooks with a delivery left pending or failed', unsettled, 0),
    observed('webhooks acknowledged and kept', stage.book.kept.size),
    exactly('acknowledged webhooks that are not stored', webhooks.lost, 0),
    exactly('deleted webhooks that are stored', webhooks.undead, 0),
    onlyRefused('webhooks that were refused, and are stored', webhooks.refusedButStored),
  ];
}

function countMissing(names: Iterable<string>, known: { readonly has: (name: string) => boolean }): number {
  return [...names].filter((name) => !known.has(name)).length;
}

type Listed = { readonly id: string; readonly url: string };

async function auditWebhooks({ client, book }: StorageStage) {
  const { json } = await client.call('GET', '/v1/webhooks');
  const listed: readonly Listed[] = Array.isArray(json.webhooks) ? json.webhooks : [];
  const urls = new Map(listed.map(({ id, url }) => [id, url]));
  return {
    lost: [...book.kept].filter(([id, url]) => urls.get(id) !== url).length,
    undead: [...book.deleted].filter((id) => urls.has(id)).length,
    refusedButStored: listed.filter(({ url }) => book.refused.has(url)).length,
  };
}

/** Number of webhooks that are kept. New ones replace the oldest. */
const KEPT = 200;

/** The responses that callers got about their webhooks. */
class WebhookBook {
  /** URLs of webhooks that were created with 201 and not deleted, by id. */
  readonly kept = new Map<string, string>();
  /** Ids of webhooks that were deleted with 204. */
  readonly deleted = new Set<string>();
  /** Ids of webhooks whose deletion failed. They may be stored or not. */
  readonly unsure = new Set<string>();
  /** URLs of webhooks whose creation failed. */
  readonly refused = new Set<string>();
}

/** Creates webhooks, and deletes the oldest ones. */
function keepWebhooks(book: WebhookBook): Operation {
  return {
    name: 'webhooks that stay',
    run: async ({ call }, id) => {
      const url = `https://example.com/kept/${id}`;
      const created = await call('POST', '/v1/webhooks', { url, events: ['ingress_ended'] });
      if (created.status !== 201) return void book.refused.add(url);
      book.kept.set(String(created.json.id), url);
      const [oldest] = book.kept.keys();
      if (oldest === undefined || book.kept.size <= KEPT) return;
      book.kept.delete(oldest);
      const { status } = await call('DELETE', `/v1/webhooks/${oldest}`);
      if (status === 204) book.deleted.add(oldest);
      else book.unsure.add(oldest);
    },
  };
}

const CODE = 'RSSMRA85T10A562S';

/** An operation that needs no database. */
const CHECK_FISCAL_CODE: Operation = {
  name: 'fiscal codes',
  run: async ({ call }) => void (await call('GET', `/cf/check/${CODE}`)),
};

const DISK_BYTES = 48 * 1024 * 1024;
const FILL_AGAIN_MS = 100;
const BLOCK = Buffer.alloc(65_536);
/** Only root may mount a disk. */
export const mayMount = process.getuid?.() === 0;
export const DISK_NOTE = mayMount ? [] : ['The disk was not filled: the experiment did not run as root.'];

/** A folder for data, on a small disk (a tmpfs) if this process may mount one. */
export type SmallDisk = {
  readonly folder: string;
  /** Uses up the remaining bytes again and again, until the returned function frees them. */
  readonly fill: () => () => void;
};

export function mountSmallDisk({ cleanUp }: Cleaning): SmallDisk {
  const disk = mkdtempSync(join(tmpdir(), 'rtc-small-disk-'));
  cleanUp(() => rmSync(disk, { recursive: true }));
  if (mayMount) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=755`, 'rtc-prove', disk]);
    cleanUp(() => execFileSync('umount', ['--lazy', disk]));
  }
  const folder = join(disk, 'data');
  mkdirSync(folder, { mode: 0o700 });
  const filler = join(disk, 'filler');
  return {
    folder,
    fill: () => {
      const timer = setInterval(() => appendAll(filler), FILL_AGAIN_MS);
      appendAll(filler);
      return () => {
        clearInterval(timer);
        rmSync(filler);
      };
    },
  };
}

/** Appends smaller and smaller blocks until not one byte is left. */
function appendAll(path: string): void {
  for (let size = BLOCK.length; size >= 1; size = Math.floor(size / 2)) {
    while (isAppended(path, size));
  }
}

function isAppended(path: string, size: number): boolean {
  try {
    appendFileSync(path, BLOCK.subarray(0, size));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

/** The database cannot write, because its disk has not one byte left. */
export function fullDisk(
  disk: SmallDisk,
  { seconds, boundMs }: Pick<StorageFault, 'seconds' | 'boundMs'>,
): StorageFault {
  return {
    name: 'while its disk is full',
    seconds,
    boundMs,
    effect: 'refuses',
    begin: async () => disk.fill(),
  };
}

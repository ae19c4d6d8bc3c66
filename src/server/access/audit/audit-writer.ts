import { ROOT_KEY_ID } from '../../../contract/keys.ts';
import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { RecordedRequest } from '../../platform/http/register-route.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
import { createBackoff } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import { sanitizeText } from '../../platform/storage/statements.ts';
import type { AccessStores, AuditRecord } from '../store.ts';

/*
 * Stores audit entries right after their requests, which do not wait for it. Entries of the same moment are stored together.
 * A kill loses the entries of the last commit or so, some milliseconds. While the database does not respond entries wait in
 * memory. Only entries beyond MAX_WAITING are lost, which is logged.
 */

/** Maximum waiting entries. Each has a few hundred bytes. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };
/** How long a failed request that changes nothing is kept: a caller who asks for its id does so soon. */
const FAILED_READ_MS = 3_600_000;
/** Limits the text that a caller puts into a path. */
const MAX_ID_LENGTH = 256;

export type AuditWriterDeps = {
  readonly store: Pick<AccessStores, 'audit'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  /** Called with the number of lost entries. */
  readonly onLost?: ((count: number) => void) | undefined;
  /** Called for each refused request that is not stored. */
  readonly onUnkept?: (() => void) | undefined;
};

export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  readonly #batcher: Batcher<AuditRecord>;
  readonly #refusals: Refusals;
  readonly #backoff = createBackoff(RETRY);
  /** Ends the pause before the next attempt. */
  #pause = new AbortController();
  /** Each is called when an attempt fails. */
  readonly #flushes = new Set<(error: unknown) => void>();
  #waiting = 0;
  #lost = 0;

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
    this.#refusals = new Refusals(deps);
    this.#batcher = new Batcher({
      maxSize: MAX_BATCH,
      flush: (batch) => this.#store(batch),
      beforeRetry: (error) => this.#pauseAfter(error),
    });
  }

  record(request: RecordedRequest): void {
    if (!this.#refusals.isKept(request)) return;
    if (this.#waiting >= MAX_WAITING) {
      this.#lost += 1;
      this.#deps.onLost?.(1);
      return;
    }
    this.#waiting += 1;
    void this.#batcher.add(toRecord(request, `aud_${this.#deps.ids.next()}`));
  }

  /** Stores all waiting entries. Rejects when the database does not respond; all entries then continue to wait. */
  async flush(): Promise<void> {
    const failed = Promise.withResolvers<never>();
    this.#flushes.add(failed.reject);
    this.#pause.abort();
    try {
      await Promise.race([this.#batcher.close(), failed.promise]);
    } finally {
      this.#flushes.delete(failed.reject);
    }
  }

  /** Stores the waiting entries, if the database responds. */
  async close(): Promise<void> {
    await this.flush().catch((error: unknown) => {
      this.#batcher.abandon();
      this.#pause.abort();
      const entries = this.#waiting;
      this.#deps.onLost?.(entries);
      this.#deps.log.error({ err: error, entries }, 'lost audit entries: the database was down at the end');
    });
  }

  async #store(batch: readonly AuditRecord[]): Promise<void> {
    await this.#deps.store.audit.append(batch);
    this.#backoff.reset();
    this.#waiting -= batch.length;
    if (this.#lost === 0) return;
    this.#deps.log.error({ entries: this.#lost }, 'lost audit entries: too many waited for the database');
    this.#lost = 0;
  }

  async #pauseAfter(error: unknown): Promise<void> {
    this.#deps.log.warn({ err: error }, 'storing audit entries failed; trying again');
    this.#pause = new AbortController();
    for (const reject of this.#flushes) reject(error);
    await this.#deps.clock.sleep(this.#backoff.next(), this.#pause.signal).catch(() => {});
  }
}

/** Refused requests of a key and minute that are stored: a year of them would fill the disk. The root key has no bound. */
const MAX_REFUSED_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Counts the refused requests of each key in the current minute, and tells how many of them are not stored. */
class Refusals {
  readonly #deps: Pick<AuditWriterDeps, 'log' | 'onUnkept'>;
  readonly #counts = new Map<string, number>();
  #minute = 0;

  constructor(deps: Pick<AuditWriterDeps, 'log' | 'onUnkept'>) {
    this.#deps = deps;
  }

  isKept({ keyId, status, occurredAt }: RecordedRequest): boolean {
    const minute = Math.floor(occurredAt / MINUTE_MS);
    if (minute !== this.#minute) this.#begin(minute);
    if (keyId === ROOT_KEY_ID || status < 400 || status >= 500) return true;
    const count = (this.#counts.get(keyId) ?? 0) + 1;
    this.#counts.set(keyId, count);
    if (count <= MAX_REFUSED_PER_MINUTE) return true;
    this.#deps.onUnkept?.();
    return false;
  }

  #begin(minute: number): void {
    for (const [keyId, count] of this.#counts) {
      const entries = count - MAX_REFUSED_PER_MINUTE;
      if (entries > 0)
        this.#deps.log.warn({ keyId, entries }, 'refused requests of a key are not in the audit log');
    }
    this.#counts.clear();
    this.#minute = minute;
  }
}

function toRecord(recorded: RecordedRequest, id: string): AuditRecord {
  const { ids, address, problem, isChange, ...request } = recorded;
  const cut = Object.fromEntries(
    Object.entries(ids).map(([name, value]) => [name, sanitizeText(value.slice(0, MAX_ID_LENGTH))]),
  );
  return {
    ...request,
    id,
    ids: cut,
    room: cut.roomId ?? null,
    address: address ?? null,
    problem: problem ?? null,
    expiresAt: isChange ? null : request.occurredAt + FAILED_READ_MS,
  };
}

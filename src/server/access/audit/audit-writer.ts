import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { RecordedRequest } from '../../platform/http/record-request.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import type { AccessStores, AuditRecord } from '../store.ts';

/*
 * Requests do not wait for their entry: it is stored right after, together with those that came meanwhile. A kill takes
 * away what ended within the last commit or so, some milliseconds. While the database is away entries wait in memory, and
 * are stored when it is back; only beyond MAX_WAITING are further ones lost, which the log says.
 */

/** Each entry has a few hundred bytes. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
/** A failed request that changes nothing: somebody who asks for its id does so soon. */
const FAILED_READ_MS = 3_600_000;
/** Bounds what somebody puts into a path. */
const MAX_ID_LENGTH = 256;

export type AuditWriterDeps = {
  readonly store: Pick<AccessStores, 'audit'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  /** Called with how many entries are lost. */
  readonly onLost?: ((count: number) => void) | undefined;
};

export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  readonly #loop: Loop;
  readonly #waiting: AuditRecord[] = [];
  #lost = 0;
  #writing: Promise<void> | undefined;

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
    this.#loop = startLoop({
      clock: deps.clock,
      log: deps.log,
      failureMessage: 'storing audit entries failed; trying again',
      round: async () => {
        await this.flush();
        return undefined;
      },
    });
  }

  record(request: RecordedRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      this.#deps.onLost?.(1);
      return;
    }
    this.#waiting.push(toRecord(request, `aud_${this.#deps.ids.next()}`));
    this.#loop.wake();
  }

  /** Stores what waits. Rejects when the database does not respond; everything waits on then. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing !== undefined) {
      this.#writing ??= this.#writeBatch().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  /** Stores what waits, if the database responds. */
  async close(): Promise<void> {
    await this.#loop.close();
    await this.flush().catch((error: unknown) => {
      const entries = this.#waiting.length;
      this.#deps.onLost?.(entries);
      this.#deps.log.error({ err: error, entries }, 'lost audit entries: the database was away at the end');
    });
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, MAX_BATCH);
    await this.#deps.store.audit.append(batch);
    this.#waiting.splice(0, batch.length);
    if (this.#lost === 0) return;
    this.#deps.log.error({ entries: this.#lost }, 'lost audit entries: too many waited for the database');
    this.#lost = 0;
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

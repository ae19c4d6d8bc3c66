import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { RecordedRequest } from '../../platform/http/record-request.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import type { AccessStores, AuditRecord } from '../store.ts';

/*
 * Stores audit entries right after their requests, which do not wait for it. Entries of the same moment are stored together.
 * A kill loses the entries of the last commit or so, some milliseconds. While the database does not respond entries wait in
 * memory. Only entries beyond MAX_WAITING are lost, which is logged.
 */

/** Maximum waiting entries. Each has a few hundred bytes. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
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

  /** Stores all waiting entries. Rejects when the database does not respond; all entries then continue to wait. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing !== undefined) {
      this.#writing ??= this.#writeBatch().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  /** Stores the waiting entries, if the database responds. */
  async close(): Promise<void> {
    await this.#loop.close();
    await this.flush().catch((error: unknown) => {
      const entries = this.#waiting.length;
      this.#deps.onLost?.(entries);
      this.#deps.log.error({ err: error, entries }, 'lost audit entries: the database was down at the end');
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

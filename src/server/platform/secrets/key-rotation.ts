import type { Clock } from '../clock.ts';
import { type Loop, startLoop } from '../jobs/loop.ts';
import type { Log } from '../log.ts';
import type { Instance, InstanceStore } from '../storage/instances.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { SecretBox } from './encryption-keys.ts';

/*
 * How ENCRYPTION_KEY changes while several instances run and share the stored secrets:
 *
 *   announce     every instance stores a row with the ids of its keys every ANNOUNCE_MS; a row counts for ALIVE_MS
 *   choose       new secrets are encrypted with the first key of this instance that all live instances have
 *   re-encrypt   when all live instances have chosen the same key for SETTLED_MS, each of them encrypts the stored secrets of
 *                other keys with it
 *
 * A new first key is therefore used when the last instance has it, and an instance that goes back to the former key gets
 * secrets that it can decrypt. Processes that announce nothing, such as workers, which read no stored secret, do not count.
 */

const ANNOUNCE_MS = 20_000;
/** Three announcements, so that a slow database ends no instance. */
const ALIVE_MS = 60_000;
/** Longer than an instance takes to restart, and than all take to see what another one has announced. */
export const SETTLED_MS = 60_000;

/** Small, so that other writers do not wait for a batch. */
const BATCH = 50;
const PAUSE_MS = 50;
/** Maximum ids that one log line names. */
const NAMED_AT_MOST = 10;

/** The secrets of one stored row. */
export type SealedRow<Stores> = {
  readonly id: string;
  readonly sealed: readonly string[];
  /** Set when the row has a secret that it no longer needs, which `replace` leaves out. */
  readonly isOutdated?: boolean;
  /** Stores other sealed texts of the same secrets, unless the row has changed. Returns whether they were stored. */
  readonly replace: (stores: Stores, sealed: readonly string[]) => Promise<boolean>;
};

/** A place in which secrets are stored. Several places have the same box. */
export type SealedSecrets<Stores> = {
  /** The name of the rows in the log, such as `webhooks`. */
  readonly name: string;
  readonly list: (stores: Stores, now: number) => Promise<readonly SealedRow<Stores>[]>;
};

export type ReencryptDeps<Stores> = {
  readonly store: UnitOfWork<Stores>;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly sources: readonly SealedSecrets<Stores>[];
};

export type KeyRotationDeps<Stores> = ReencryptDeps<Stores> & {
  readonly store: { readonly instances: InstanceStore };
  readonly instanceId: string;
  readonly version: string;
};

/** How far the rotation is, for `rtc doctor`. */
export type KeyRotationState = {
  readonly instances: readonly Instance[];
  readonly choice: KeyChoice;
  /** Ids of the keys of this instance, in the order of ENCRYPTION_KEY. */
  readonly ownIds: readonly [string, ...string[]];
  /** Rows by source whose secrets this instance cannot decrypt. */
  readonly lost: Counts;
  /** Number of rows that another key than the chosen one has encrypted. */
  readonly older: number;
};

export type KeyChoice = {
  /** The key that encrypts on this instance. */
  readonly keyId: string;
  /** Whether all live instances choose it too, so that secrets of other keys can be encrypted with it. */
  readonly isAgreed: boolean;
  /** Whether all live instances have it. */
  readonly isShared: boolean;
};

type Counts = Readonly<Record<string, number>>;

export type KeyRotation = Pick<Loop, 'close'> & { readonly state: () => Promise<KeyRotationState> };

/** Announces this instance, and goes on doing so. Rejects when the first announcement cannot be stored. */
export async function startKeyRotation<Stores>(deps: KeyRotationDeps<Stores>): Promise<KeyRotation> {
  const { store, secretBox, clock, log, instanceId } = deps;
  await announce(deps);
  await chooseAmongAll(deps);
  /** The agreement that holds, since when (monotonic), and whether secrets are encrypted accordingly. */
  let agreement = { text: '', since: 0, isDone: false };
  let isFirst = true;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'announcing the encryption keys of this instance failed; trying again',
    round: async (signal) => {
      if (!isFirst) await announce(deps);
      const { instances, choice } = await chooseAmongAll(deps);
      const text = choice.isAgreed ? [choice.keyId, ...instances.map(({ id }) => id)].join(' ') : '';
      if (text !== agreement.text) agreement = { text, since: clock.monotonic(), isDone: false };
      if (isFirst) logLost(log, await examineSecrets(deps));
      isFirst = false;
      const isSettled = choice.isAgreed && clock.monotonic() - agreement.since >= SETTLED_MS;
      if (isSettled && !agreement.isDone) {
        await reencryptSecrets(deps, signal);
        agreement.isDone = !signal.aborted;
      }
      return ANNOUNCE_MS;
    },
  });
  return {
    close: async () => {
      await loop.close();
      await store.instances.remove(instanceId).catch((error: unknown) => {
        log.warn({ err: error }, 'removing the announcement of this instance failed; it ends in a minute');
      });
    },
    state: async () => {
      const { instances, choice } = await chooseAmongAll(deps);
      const { lost, older } = await examineSecrets(deps);
      return { instances, choice, ownIds: secretBox.keyIds, lost: count(lost), older };
    },
  };
}

async function announce<Stores>(deps: KeyRotationDeps<Stores>): Promise<void> {
  const { store, secretBox, clock, instanceId: id, version } = deps;
  const now = clock.now();
  await store.instances.announce({ id, version, keyIds: secretBox.keyIds, aliveUntil: now + ALIVE_MS }, now);
}

async function chooseAmongAll<Stores>({ store, secretBox, clock }: KeyRotationDeps<Stores>) {
  const instances = await store.instances.listAlive(clock.now());
  const choice = chooseKey(secretBox.keyIds, instances);
  secretBox.encryptWith(choice.keyId);
  return { instances, choice };
}

/** Chooses a key by what all instances have announced. Instances that know the same rows agree on whether they agree. */
export function chooseKey(
  ownIds: readonly [string, ...string[]],
  instances: readonly Pick<Instance, 'keyIds'>[],
): KeyChoice {
  const isShared = (keyId: string): boolean => instances.every(({ keyIds }) => keyIds.includes(keyId));
  const shared = ownIds.find(isShared);
  if (shared === undefined) return { keyId: ownIds[0], isShared: false, isAgreed: false };
  const isAgreed = instances.every(({ keyIds }) => keyIds.find(isShared) === shared);
  return { keyId: shared, isShared: true, isAgreed };
}

type Examined = {
  /** Ids of the rows by source. */
  readonly lost: Readonly<Record<string, readonly string[]>>;
  readonly older: number;
};

async function examineSecrets<Stores>(deps: ReencryptDeps<Stores>): Promise<Examined> {
  const { store, secretBox, clock, sources } = deps;
  const lost: Record<string, readonly string[]> = {};
  let older = 0;
  for (const { name, list } of sources) {
    const rows = await list(store, clock.now());
    const outdated = rows.filter(({ sealed }) => sealed.some((text) => !secretBox.isCurrent(text)));
    const closed = outdated.filter(({ id, sealed }) => sealed.some((text) => !canOpen(secretBox, text, id)));
    older += outdated.length - closed.length;
    if (closed.length > 0) lost[name] = closed.map(({ id }) => id);
  }
  return { lost, older };
}

/**
 * Encrypts all secrets that other keys encrypted with the key of `secretBox`, so that the others can be dropped. Returns the
 * number of rows by source, and logs those that no key decrypts: they stay as they are, because their key may come back.
 * Several instances may do it at once; a secret that is changed at the same time is not overwritten.
 */
export async function reencryptSecrets<Stores>(
  deps: ReencryptDeps<Stores>,
  signal: AbortSignal,
): Promise<{ readonly encrypted: Counts; readonly lost: Counts }> {
  const { store, secretBox, clock, log, sources } = deps;
  const encrypted: Record<string, number> = {};
  for (const { name, list } of sources) {
    const rows = await list(store, clock.now());
    const changed = rows.flatMap((row) => toChange(secretBox, row));
    for (let first = 0; first < changed.length && !signal.aborted; first += BATCH) {
      if (first > 0) await clock.sleep(PAUSE_MS, signal);
      const batch = changed.slice(first, first + BATCH);
      const stored = await store.transaction((inside) => replaceAll(inside, batch));
      if (stored > 0) encrypted[name] = (encrypted[name] ?? 0) + stored;
    }
  }
  if (Object.keys(encrypted).length > 0) {
    log.info(encrypted, 'encrypted stored secrets with the current ENCRYPTION_KEY');
  }
  const { lost } = await examineSecrets(deps);
  return { encrypted, lost: count(lost) };
}

function logLost(log: Pick<Log, 'error'>, { lost }: Examined): void {
  if (Object.keys(lost).length === 0) return;
  const named = Object.entries(lost).map(([name, ids]) => [name, ids.slice(0, NAMED_AT_MOST)]);
  log.error(
    { lost: count(lost), ids: Object.fromEntries(named) },
    'stored secrets cannot be decrypted: add the ENCRYPTION_KEY that they were stored with behind the current one, or give the webhooks new secrets by PUT, and programs new API keys',
  );
}

type Change<Stores> = { readonly row: SealedRow<Stores>; readonly sealed: readonly string[] };

function toChange<Stores>(box: SecretBox, row: SealedRow<Stores>): readonly Change<Stores>[] {
  const sealed = row.sealed.map((text) => reencrypt(box, text, row.id));
  const isChanged = row.isOutdated === true || sealed.some((text, index) => text !== row.sealed[index]);
  return isChanged ? [{ row, sealed }] : [];
}

function reencrypt(box: SecretBox, sealed: string, id: string): string {
  if (box.isCurrent(sealed) || !canOpen(box, sealed, id)) return sealed;
  return box.seal(box.open(sealed, id), id);
}

function canOpen(box: SecretBox, sealed: string, id: string): boolean {
  try {
    box.open(sealed, id);
    return true;
  } catch {
    return false;
  }
}

async function replaceAll<Stores>(stores: Stores, batch: readonly Change<Stores>[]): Promise<number> {
  let stored = 0;
  for (const { row, sealed } of batch) if (await row.replace(stores, sealed)) stored += 1;
  return stored;
}

function count(lists: Readonly<Record<string, readonly string[]>>): Counts {
  return Object.fromEntries(Object.entries(lists).map(([name, ids]) => [name, ids.length]));
}

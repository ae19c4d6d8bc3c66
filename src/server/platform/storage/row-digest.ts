import { createHash } from 'node:crypto';

/** A row as both engines return it: only texts, safe integers and nulls. */
export type PlainRow = readonly (string | number | null)[];

const MODULUS = 1n << 256n;

/**
 * Count and checksum of rows in any order: the sum of the SHA-256 of each. Rows that are missing, doubled or changed
 * change it. The copy of an SQLite database to PostgreSQL compares so what it sent with what is stored.
 */
export class RowDigest {
  #count = 0;
  #sum = 0n;

  add(row: PlainRow): void {
    const hash = createHash('sha256').update(JSON.stringify(row)).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % MODULUS;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** 64 hexadecimal digits. */
  get checksum(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}

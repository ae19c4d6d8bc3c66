import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../support/parts/postgres.ts';
import { sharedPostgres } from '../support/parts/shared.ts';

describe('the shared PostgreSQL', () => {
  it('runs queries in a database per suite and keeps the databases apart', async () => {
    const cluster = await sharedPostgres();
    const one = await createDatabase(cluster);
    const other = await createDatabase(cluster);
    await query(one.url, 'create table seats (row_number int)');
    await query(one.url, 'insert into seats values (7)');
    expect(await query(one.url, 'select row_number from seats')).toEqual([{ row_number: 7 }]);
    await expect(query(other.url, 'select row_number from seats')).rejects.toThrow(/seats.* does not exist/);
    await Promise.all([one.close(), other.close()]);
    await expect(query(one.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('is a PostgreSQL with UTF-8 that checks the password', async () => {
    const cluster = await sharedPostgres();
    expect(await query(cluster.url, 'show server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
    const wrong = new URL(cluster.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });
});

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

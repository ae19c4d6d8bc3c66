import { startReceiver } from './receiver.ts';
import { measureStored, openStage, postgresDatabase, sqliteDatabase } from './stage.ts';
import { deliver } from './throughput.ts';

/*
 * `node proof/benches/webhooks/stored-size.ts [EVENTS]` delivers so many events to one webhook, a million by default, on each
 * engine, and prints the rows and the size of the database. It takes some minutes.
 */

const EVENTS = Number(process.argv[2] ?? 1_000_000);
const AT_ONCE = 10_000;

for (const database of [await sqliteDatabase(), await postgresDatabase()]) {
  const receiver = await startReceiver();
  const stage = await openStage(database);
  const webhooks = await stage.addWebhooks(receiver.url, 1);
  const before = await measureStored(database);
  for (let done = 0; done < EVENTS; done += AT_ONCE)
    await deliver(stage, webhooks, Math.min(AT_ONCE, EVENTS - done));
  const after = await measureStored(database);
  const megabytes = Math.round((after.bytes - before.bytes) / 1e6);
  console.log(`${database.name}: ${after.rows - before.rows} rows, ${megabytes} MB for ${EVENTS} events`);
  await stage.close();
  receiver.close();
  await database.close();
}

import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { startTestService } from '../../support/service.ts';
import { systemClock } from '../platform/storage/test-databases.ts';

it('the metrics count takeovers by kind and lost audit entries, from 0 on', async () => {
  const metrics = createMetrics({ version: '1.2.3', clock: systemClock });
  const lines = async () => (await metrics.render()).split('\n');
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'rtc_lease_takeovers_total{kind="delivery"} 0',
      'rtc_lease_takeovers_total{kind="reconciler"} 0',
      'rtc_audit_entries_lost_total 0',
      'rtc_database_pool_waiting 0',
    ]),
  );
  metrics.countTakeovers({ kind: 'delivery', count: 3 });
  metrics.countLostAuditEntries(2);
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'rtc_lease_takeovers_total{kind="delivery"} 3',
      'rtc_audit_entries_lost_total 2',
    ]),
  );
});

it('the metrics start counters of alerts at 0, so that the first count is an increase', async () => {
  const lines = (await createMetrics({ version: '1.2.3', clock: systemClock }).render()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'rtc_events_stored_total{event="participant_left",source="reconciliation"} 0',
      'rtc_webhook_attempt_duration_seconds_count{outcome="retrying",attempt="2"} 0',
      'rtc_webhook_attempt_duration_seconds_count{outcome="failed",attempt="4"} 0',
      'rtc_http_problems_total{code="timestamp-out-of-window"} 0',
    ]),
  );
});

it('the metrics show the pool of a service on PostgreSQL, and none on SQLite', async () => {
  const database = await createMigratedDatabase();
  const ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');
  const onPostgres = await startTestService({ environment: { DATABASE_URL: database.url, ENCRYPTION_KEY } });
  const { text } = await onPostgres.call('GET', '/metrics');
  await onPostgres.close();
  await database.close();
  expect(text).toMatch(/^rtc_database_pool_connections\{state="used"\} \d+$/m);
  expect(text).toMatch(/^rtc_database_pool_connections\{state="idle"\} [1-9]\d*$/m);
  const onSqlite = await startTestService();
  const without = await onSqlite.call('GET', '/metrics');
  await onSqlite.close();
  expect(without.text).not.toContain('rtc_database_pool_connections{');
});

import { describeIdempotency } from './idempotency-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeIdempotency('SQLite', sqliteTestDatabase);
describeIdempotency('PostgreSQL', postgresTestDatabase);

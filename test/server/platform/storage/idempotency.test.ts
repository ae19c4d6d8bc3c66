import { describeIdempotency } from './idempotency-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeIdempotency('SQLite', sqliteGround);
describeIdempotency('PostgreSQL', postgresGround);

import { postgresGround, sqliteGround } from './grounds.ts';
import { describeIdempotency } from './idempotency-contract.ts';

describeIdempotency('SQLite', sqliteGround);
describeIdempotency('PostgreSQL', postgresGround);

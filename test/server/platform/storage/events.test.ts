import { describeEvents } from './event-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeEvents('SQLite', sqliteGround);
describeEvents('PostgreSQL', postgresGround);

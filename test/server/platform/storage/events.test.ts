import { describeEvents } from './event-contract.ts';
import { postgresGround, sqliteGround } from './grounds.ts';

describeEvents('SQLite', sqliteGround);
describeEvents('PostgreSQL', postgresGround);

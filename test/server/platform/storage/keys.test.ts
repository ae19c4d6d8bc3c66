import { postgresGround, sqliteGround } from './grounds.ts';
import { describeKeys } from './key-contract.ts';

describeKeys('SQLite', sqliteGround);
describeKeys('PostgreSQL', postgresGround);

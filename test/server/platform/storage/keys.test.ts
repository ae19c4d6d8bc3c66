import { describeKeys } from './key-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeKeys('SQLite', sqliteGround);
describeKeys('PostgreSQL', postgresGround);

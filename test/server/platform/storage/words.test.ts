import { postgresGround, sqliteGround } from './test-databases.ts';
import { describeWords } from './word-contract.ts';

describeWords('SQLite', sqliteGround);
describeWords('PostgreSQL', postgresGround);

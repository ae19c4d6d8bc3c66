import { postgresGround, sqliteGround } from './grounds.ts';
import { describeWords } from './word-contract.ts';

describeWords('SQLite', sqliteGround);
describeWords('PostgreSQL', postgresGround);

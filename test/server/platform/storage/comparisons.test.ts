import { describeComparisons } from './comparison-contract.ts';
import { postgresGround, sqliteGround } from './grounds.ts';

describeComparisons('SQLite', sqliteGround);
describeComparisons('PostgreSQL', postgresGround);

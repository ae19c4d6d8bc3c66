import { describeComparisons } from './comparison-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeComparisons('SQLite', sqliteGround);
describeComparisons('PostgreSQL', postgresGround);

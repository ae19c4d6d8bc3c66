import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';
import { describeWords } from './word-contract.ts';

describeWords('SQLite', sqliteTestDatabase);
describeWords('PostgreSQL', postgresTestDatabase);

import { describeKeys } from './key-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeKeys('SQLite', sqliteTestDatabase);
describeKeys('PostgreSQL', postgresTestDatabase);

import { describeComparisons } from './comparison-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeComparisons('SQLite', sqliteTestDatabase);
describeComparisons('PostgreSQL', postgresTestDatabase);

import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';
import { describeUsage } from './usage-contract.ts';

describeUsage('SQLite', sqliteTestDatabase);
describeUsage('PostgreSQL', postgresTestDatabase);

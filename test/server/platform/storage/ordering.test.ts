import { describeOrdering } from './ordering-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeOrdering('SQLite', sqliteTestDatabase);
describeOrdering('PostgreSQL', postgresTestDatabase);

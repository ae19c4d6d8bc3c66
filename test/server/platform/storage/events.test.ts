import { describeEvents } from './event-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeEvents('SQLite', sqliteTestDatabase);
describeEvents('PostgreSQL', postgresTestDatabase);

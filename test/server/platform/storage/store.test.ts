import { describeStore } from './store-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeStore('SQLite', sqliteTestDatabase);
describeStore('PostgreSQL', postgresTestDatabase);

import { describeSessions } from './session-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeSessions('SQLite', sqliteTestDatabase);
describeSessions('PostgreSQL', postgresTestDatabase);

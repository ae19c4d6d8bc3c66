import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';
import { describeTurns } from './turn-contract.ts';

describeTurns('SQLite', sqliteTestDatabase);
describeTurns('PostgreSQL', postgresTestDatabase);

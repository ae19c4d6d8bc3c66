import { describeSessions } from './session-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeSessions('SQLite', sqliteGround);
describeSessions('PostgreSQL', postgresGround);

import { postgresGround, sqliteGround } from './grounds.ts';
import { describeSessions } from './session-contract.ts';

describeSessions('SQLite', sqliteGround);
describeSessions('PostgreSQL', postgresGround);

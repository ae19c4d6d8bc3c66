import { postgresGround, sqliteGround } from './test-databases.ts';
import { describeTurns } from './turn-contract.ts';

describeTurns('SQLite', sqliteGround);
describeTurns('PostgreSQL', postgresGround);

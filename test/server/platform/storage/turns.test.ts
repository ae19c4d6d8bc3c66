import { postgresGround, sqliteGround } from './grounds.ts';
import { describeTurns } from './turn-contract.ts';

describeTurns('SQLite', sqliteGround);
describeTurns('PostgreSQL', postgresGround);

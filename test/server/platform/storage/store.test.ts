import { postgresGround, sqliteGround } from './grounds.ts';
import { describeStore } from './store-contract.ts';

describeStore('SQLite', sqliteGround);
describeStore('PostgreSQL', postgresGround);

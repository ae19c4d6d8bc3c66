import { describeStore } from './store-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeStore('SQLite', sqliteGround);
describeStore('PostgreSQL', postgresGround);

import { describeOrdering } from './ordering-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeOrdering('SQLite', sqliteGround);
describeOrdering('PostgreSQL', postgresGround);

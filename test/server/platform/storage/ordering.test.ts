import { postgresGround, sqliteGround } from './grounds.ts';
import { describeOrdering } from './ordering-contract.ts';

describeOrdering('SQLite', sqliteGround);
describeOrdering('PostgreSQL', postgresGround);

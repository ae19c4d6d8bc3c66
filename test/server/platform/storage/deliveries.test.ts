import { describeDeliveries } from './delivery-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeDeliveries('SQLite', sqliteGround);
describeDeliveries('PostgreSQL', postgresGround);

import { describeDeliveries } from './delivery-contract.ts';
import { postgresGround, sqliteGround } from './grounds.ts';

describeDeliveries('SQLite', sqliteGround);
describeDeliveries('PostgreSQL', postgresGround);

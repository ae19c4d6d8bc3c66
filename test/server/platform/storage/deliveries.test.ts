import { describeDeliveries } from './delivery-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeDeliveries('SQLite', sqliteTestDatabase);
describeDeliveries('PostgreSQL', postgresTestDatabase);

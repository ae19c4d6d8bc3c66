import { describeBlocks } from './block-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeBlocks('SQLite', sqliteTestDatabase);
describeBlocks('PostgreSQL', postgresTestDatabase);

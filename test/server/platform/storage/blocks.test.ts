import { describeBlocks } from './block-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeBlocks('SQLite', sqliteGround);
describeBlocks('PostgreSQL', postgresGround);

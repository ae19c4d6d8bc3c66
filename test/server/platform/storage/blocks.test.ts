import { describeBlocks } from './block-contract.ts';
import { postgresGround, sqliteGround } from './grounds.ts';

describeBlocks('SQLite', sqliteGround);
describeBlocks('PostgreSQL', postgresGround);

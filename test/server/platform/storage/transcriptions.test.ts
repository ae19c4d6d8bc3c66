import { postgresGround, sqliteGround } from './test-databases.ts';
import { describeTranscriptions } from './transcription-contract.ts';

describeTranscriptions('SQLite', sqliteGround);
describeTranscriptions('PostgreSQL', postgresGround);

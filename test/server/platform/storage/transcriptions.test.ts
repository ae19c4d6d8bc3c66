import { postgresGround, sqliteGround } from './grounds.ts';
import { describeTranscriptions } from './transcription-contract.ts';

describeTranscriptions('SQLite', sqliteGround);
describeTranscriptions('PostgreSQL', postgresGround);

import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';
import { describeTranscriptions } from './transcription-contract.ts';

describeTranscriptions('SQLite', sqliteTestDatabase);
describeTranscriptions('PostgreSQL', postgresTestDatabase);

import { describe, it } from 'vitest';
import { storedSpeechPostgres, storedSpeechSqlite } from '../../proof/load/stored-speech.ts';
import { expectToHold } from './support/run-short.ts';

describe('searches in stored speech', () => {
  it('are answered on SQLite, and leave others alone', () => expectToHold(storedSpeechSqlite), 120_000);
  it('are answered on PostgreSQL, and leave others alone', () => expectToHold(storedSpeechPostgres), 120_000);
});

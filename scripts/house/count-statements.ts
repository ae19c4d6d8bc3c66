/**
 * Counts the statements that node:sqlite runs and the write locks that they take, and writes the counts to the file that
 * STATEMENT_COUNTS names. It is loaded with `--import` before a service.
 */
import { writeFileSync } from 'node:fs';
import { observeStatements } from './observe-statements.ts';

const file = process.env.STATEMENT_COUNTS ?? '';
const counts = { statements: 0, writes: 0 };
let isInTransaction = false;

writeFileSync(file, JSON.stringify(counts));

/** A transaction that begins with a write lock takes it once, for all of its statements. */
function countStatement(sql: string): void {
  const [first = ''] = /^\s*\w+/.exec(sql.toUpperCase()) ?? [];
  const verb = first.trim();
  counts.statements += 1;
  if (verb === 'BEGIN') isInTransaction = true;
  if (/^\s*BEGIN\s+(IMMEDIATE|EXCLUSIVE)/i.test(sql)) counts.writes += 1;
  else if (!isInTransaction && /^(INSERT|UPDATE|DELETE|REPLACE|WITH)$/.test(verb)) counts.writes += 1;
  if (verb === 'COMMIT' || verb === 'ROLLBACK' || verb === 'END') isInTransaction = false;
  writeFileSync(file, JSON.stringify(counts));
}

observeStatements(countStatement);

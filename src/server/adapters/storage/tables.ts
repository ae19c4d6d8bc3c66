import type { Recording } from '../../ports/store.ts';

/**
 * Every table, as the query layer sees it. Columns carry the names of the records' fields, so that a row is the
 * record and nothing has to be mapped.
 */
export type Tables = {
  readonly rtcMigrations: MigrationRow;
  readonly recordings: Recording;
};

type MigrationRow = {
  readonly name: string;
  readonly appliedAt: number;
};

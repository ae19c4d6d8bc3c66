import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Calls `onStatement` with the SQL of every statement that node:sqlite runs in this process from now on. */
export function observeStatements(onStatement: (sql: string) => void): void {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function observed(sql) {
    onStatement(sql);
    return exec.call(this, sql);
  };
  for (const name of ['run', 'all', 'get', 'iterate'] as const) {
    const original: unknown = StatementSync.prototype[name];
    if (typeof original !== 'function') throw new Error(`node:sqlite has no ${name}`);
    Object.defineProperty(StatementSync.prototype, name, {
      value: function observed(this: StatementSync, ...values: readonly unknown[]): unknown {
        onStatement(this.sourceSQL);
        return Reflect.apply(original, this, values);
      },
    });
  }
}

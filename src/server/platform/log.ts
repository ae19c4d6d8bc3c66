/** Structured logging: messages are constant, values are fields. Never log secrets, tokens, names or fiscal codes. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Returns the message of a thrown value, which may not be an Error. */
export function toMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The request of a sample. Each sample reads RTC_URL, API_KEY and API_SECRET from the environment. */
export type SampleRequest = {
  readonly operationId: string;
  readonly method: string;
  /** Path with its query, as it is signed. */
  readonly path: string;
  /** Values of the path's parameters, in order. */
  readonly values: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** JSON on several lines; undefined without a body. */
  readonly body: string | undefined;
  readonly isSigned: boolean;
};

/** Puts `prefix` before each line except the first. */
export function indent(text: string, prefix: string): string {
  return text.replaceAll('\n', `\n${prefix}`);
}

/** Joins lines of code, and leaves out those that are false. */
export function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n');
}

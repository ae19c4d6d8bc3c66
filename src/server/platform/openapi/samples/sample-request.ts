/** The request of a sample. Each one reads RTC_URL, API_KEY and API_SECRET from the environment. */
export type SampleRequest = {
  readonly operationId: string;
  readonly method: string;
  /** With its query, as it is signed. */
  readonly path: string;
  /** Values of the path's parameters, in their order. */
  readonly values: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** JSON on several lines; undefined for none. */
  readonly body: string | undefined;
  readonly isSigned: boolean;
};

/** Puts `prefix` before each line but the first. */
export function indent(text: string, prefix: string): string {
  return text.replaceAll('\n', `\n${prefix}`);
}

/** Lines of code, without those that are not needed. */
export function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n');
}

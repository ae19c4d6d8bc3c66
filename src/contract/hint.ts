/**
 * The next step after an error, as data: text in lower case without a full stop, and the command that does it, if there
 * is one.
 */
export type Hint = { readonly text: string; readonly command?: string };

/** An error of a process and not of a request: why something cannot start, and what to do about it. */
export class HintedError extends Error {
  override readonly name: string = 'HintedError';
  /** The message without the hint. */
  readonly reason: string;
  readonly hint: Hint;

  constructor(reason: string, hint: Hint, options?: ErrorOptions) {
    super(messageWithHint(reason, hint), options);
    this.reason = reason;
    this.hint = hint;
  }
}

/** Joins the sentence of an error and its hint to one text, for logs and for clients that show only the detail. */
export function messageWithHint(reason: string, hint: Hint | undefined): string {
  if (hint === undefined) return reason;
  return `${reason}${/[.?!]$/.test(reason) ? '' : '.'} ${hintSentence(hint)}`;
}

/** Returns the hint as the sentence with which messageWithHint ends. */
export function hintSentence({ text, command }: Hint): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return command === undefined ? `${sentence}.` : `${sentence}: ${command}`;
}

/**
 * Returns the hint of an error of any build: the service and the command line are bundled separately, and share no classes.
 */
export function readHint(value: unknown): Hint | undefined {
  const hint = typeof value === 'object' && value !== null && 'hint' in value ? value.hint : undefined;
  if (typeof hint !== 'object' || hint === null || !('text' in hint)) return undefined;
  const { text } = hint;
  if (typeof text !== 'string') return undefined;
  return 'command' in hint && typeof hint.command === 'string' ? { text, command: hint.command } : { text };
}

/** Returns the text of an error without its hint. */
export function readReason(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

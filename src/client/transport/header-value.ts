/**
 * Whether a header can contain the text (RFC 9110, section 5.5). Text of a file often ends with a line end, which no header
 * can contain.
 */
export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

/** Whether a header can carry the text, RFC 9110, section 5.5: a line end is what is left of many a file. */
export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

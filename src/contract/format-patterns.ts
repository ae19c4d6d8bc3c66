/*
 * Regular expressions for the service's own string formats, for the OpenAPI document: with them readers of the document,
 * such as generators of clients, know texts that the service rejects. The service itself checks the complete format and
 * describes the error. `\x` is the escape that ECMA-262, Python, Java, .NET and RE2 (Go) have in common.
 */

/** Unicode's category Cc. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const NO_CONTROL_CHARACTERS = `^[^${CONTROL}]*$`;

/**
 * Patterns by format. A pattern accepts every text that its format accepts, and a few more, such as texts of too many bytes.
 */
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  'block-duration': '^(?:forever|[1-9][0-9]{0,8})$',
  'livekit-name': NO_CONTROL_CHARACTERS,
  term: NO_CONTROL_CHARACTERS,
  'webhook-url': `^[Hh][Tt][Tt][Pp][Ss]?://[^\\s${CONTROL}\\\\]+$`,
};

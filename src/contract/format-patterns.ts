/*
 * What a regular expression can say of the service's own string formats, for the OpenAPI document: whoever reads it, such as
 * a generator of clients, learns what the service refuses. The service itself checks the whole format, and says what is
 * wrong. `\x` is the escape that ECMA-262, Python, Java, .NET and RE2 (Go) have in common.
 */

/** Unicode's category Cc. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const NO_CONTROL_CHARACTERS = `^[^${CONTROL}]*$`;

/** By format. A pattern accepts every text that its format accepts, and a few more: of too many bytes, for example. */
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  'block-duration': '^(?:forever|[1-9][0-9]{0,8})$',
  'livekit-name': NO_CONTROL_CHARACTERS,
  term: NO_CONTROL_CHARACTERS,
  'webhook-url': `^[Hh][Tt][Tt][Pp][Ss]?://[^\\s${CONTROL}\\\\]+$`,
};

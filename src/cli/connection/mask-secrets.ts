/** Enough of a key to tell it from another one, and of a short one nothing. The id of a key that was made is no secret. */
export function maskKey(value: string): string {
  if (/^key_\w{16,}$/.test(value)) return value;
  return value.length < 12 ? '***' : `${value.slice(0, 4)}***`;
}

/** Members of JSON text that let their holder in, masked; also right in text that is not quite JSON. */
export function maskSecrets(json: string): string {
  return json.replace(/("(?:token|streamKey|secret|apiSecret|fileUrl)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"***"');
}

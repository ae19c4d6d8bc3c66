/**
 * Shows enough of a key to distinguish it from another one, and nothing of a short one. The id of a created key is no
 * secret.
 */
export function maskKey(value: string): string {
  if (/^key_\w{16,}$/.test(value)) return value;
  return value.length < 12 ? '***' : `${value.slice(0, 4)}***`;
}

/** Masks members of JSON text that grant access; also in text that is not quite JSON. */
export function maskSecrets(json: string): string {
  return json.replace(/("(?:token|streamKey|secret|apiSecret|fileUrl)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"***"');
}

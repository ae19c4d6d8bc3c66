/* Node's codes of errors of TLS, for the messages of the service, the client and the command line. */

/** Certificates of an authority that this program does not know. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Returns whether the certificate is not trusted, which NODE_EXTRA_CA_CERTS can change. */
export function isUntrustedCertificate(code: string): boolean {
  return UNTRUSTED.has(code);
}

/** Returns whether the certificate or the handshake is not valid, for whatever reason. */
export function isTlsError(code: string): boolean {
  return UNTRUSTED.has(code) || /^(?:CERT|ERR_TLS|ERR_SSL|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/.test(code);
}

/** Headers of every response: the page runs its own code only, and talks to this server and the media server only. */
export function pageHeaders(mediaUrl: string): Readonly<Record<string, string>> {
  const media = new URL(mediaUrl);
  const isSecure = media.protocol === 'wss:';
  const mediaOrigins = `${isSecure ? 'wss' : 'ws'}://${media.host} ${isSecure ? 'https' : 'http'}://${media.host}`;
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      `connect-src 'self' ${mediaOrigins}`,
      "worker-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(self), microphone=(self), display-capture=(self)',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

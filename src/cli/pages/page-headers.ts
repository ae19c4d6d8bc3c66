/** The origins that a page may connect to beside its own server, and the browser permissions that it needs. */
export type PageNeeds = { readonly connect: readonly string[]; readonly permissions: string };

/** Headers of every response: a page runs only its own code, and connects only to its own server and to `connect`. */
export function pageHeaders({ connect, permissions }: PageNeeds): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      ["connect-src 'self'", ...connect].join(' '),
      "worker-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': permissions,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

import { Copy } from 'lucide-react';

const SECRET_BYTES = 32;

/** Generates a secret like the service: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A signing secret, shown once. */
export function Secret({ secret }: { readonly secret: string }) {
  return (
    <div className="secret">
      <p>Keep the secret now: it is not shown again.</p>
      <div className="command">
        <code>{secret}</code>
        <button
          type="button"
          className="icon"
          aria-label="Copy the secret"
          onClick={() => void navigator.clipboard.writeText(secret)}
        >
          <Copy aria-hidden />
        </button>
      </div>
    </div>
  );
}

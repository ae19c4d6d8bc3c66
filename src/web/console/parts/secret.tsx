import { Copy } from 'lucide-react';

/** A secret, shown once. */
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

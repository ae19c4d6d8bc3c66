import { Link } from 'wouter';

/** The id of a request, which leads to its entry in the audit log. */
export function RequestLink({ id }: { readonly id: string }) {
  return (
    <Link
      href={`/audit?request=${encodeURIComponent(id)}`}
      onClick={(event) => event.stopPropagation()}
      title="Show it in the audit log"
    >
      <code>{id}</code>
    </Link>
  );
}

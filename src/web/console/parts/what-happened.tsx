import { Link } from 'wouter';
import type { SubjectKind } from '../../../explain/explanation.ts';

type Subject = { readonly kind: SubjectKind; readonly id: string };

/** A link to the explanation, beside the actions on its subject. */
export function WhatHappened({ kind, id }: Subject) {
  return (
    <Link className="button" href={`/explain/${kind}/${encodeURIComponent(id)}`}>
      What happened?
    </Link>
  );
}

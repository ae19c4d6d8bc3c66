import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warning' | 'active' | 'neutral';

/** A state: never by its colour alone. */
export function Status({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`status status-${tone}`}>
      <span className="dot" aria-hidden />
      {children}
    </span>
  );
}

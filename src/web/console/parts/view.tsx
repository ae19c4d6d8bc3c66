import type { ReactNode } from 'react';
import { CommandLine } from './command-line.tsx';

type ViewProps = {
  readonly title: ReactNode;
  /** A note beside the title, such as a count. */
  readonly note?: ReactNode;
  /** The command that shows the same. */
  readonly command: string;
  /** Whether the command uses no service. */
  readonly isOffline?: boolean;
  readonly actions?: ReactNode;
  /** Whether the content scrolls by itself, like a table that fills the view. */
  readonly isFilled?: boolean;
  readonly children: ReactNode;
};

/** A page of the console: its heading, its actions, and the command that does the same. */
export function View({ title, note, command, actions, children, ...flags }: ViewProps) {
  const { isFilled = false, isOffline = false } = flags;
  return (
    <div className={isFilled ? 'view view-filled' : 'view'}>
      <header className="view-head">
        <div className="view-title">
          <h1>{title}</h1>
          {note !== undefined && <span className="faint">{note}</span>}
        </div>
        <CommandLine command={command} isOffline={isOffline} />
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

type EmptyProps = { readonly title: string; readonly children?: ReactNode };

/** The text of an empty list, with the way to fill it. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p className="loading faint" role="status">
      Loading…
    </p>
  );
}

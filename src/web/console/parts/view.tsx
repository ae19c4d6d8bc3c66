import { type ReactNode, useEffect, useState } from 'react';
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
  /** The language of its texts if it differs from the language of the page. */
  readonly lang?: string;
  readonly children: ReactNode;
};

/** A page of the console: its heading, its actions, and the command that does the same. */
export function View(props: ViewProps) {
  const { title, note, command, actions, children, isFilled = false, isOffline = false, lang } = props;
  useTitle(typeof title === 'string' ? title : undefined);
  return (
    <div className={isFilled ? 'view view-filled' : 'view'} lang={lang}>
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

function useTitle(name: string | undefined): void {
  useEffect(() => {
    document.title = name === undefined ? 'rtc console' : `${name} · rtc console`;
  }, [name]);
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

/** A view that cannot be shown. Its text is the heading of the page. */
export function EmptyView({ title, children }: EmptyProps) {
  useTitle(title);
  return (
    <div className="empty">
      <h1 className="empty-title">{title}</h1>
      {children}
    </div>
  );
}

type FactsProps = { readonly rows: Readonly<Record<string, ReactNode>>; readonly className?: string };

/** Facts by their names, in a grid; what is undefined is left out. */
export function FactList({ rows, className = 'facts' }: FactsProps) {
  const known = Object.entries(rows).filter(([, value]) => value !== undefined);
  return (
    <dl className={className}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * Stands for content to come. Its lines stay invisible for a moment (`.skeleton` in parts.css), so that a fast answer does not
 * flicker. After five seconds it says what it waits for.
 */
export function Loading() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLong(true), LONG_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div className="loading faint" role="status">
      <span className="sr-only">Loading</span>
      <span className="skeleton" aria-hidden />
      <span className="skeleton" aria-hidden />
      <span className="skeleton" aria-hidden />
      {isLong && <p>The service has not answered for five seconds. This goes on as soon as it does.</p>}
    </div>
  );
}

const LONG_MS = 5_000;

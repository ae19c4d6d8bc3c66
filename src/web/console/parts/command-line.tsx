import { Check, Copy } from 'lucide-react';
import { createContext, useContext, useState } from 'react';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { useConsole } from '../shell/console-state.tsx';

const SHOWN_MS = 1_500;

/** Values of options by their names; those that are empty or undefined are left out. */
type Options = Readonly<Record<string, string | undefined>>;

/** Joins a command, with its words quoted for a shell if necessary; undefined words are left out. */
export function writeCommand(...words: readonly (string | undefined | Options)[]): string {
  const given = words.flatMap((word = {}) =>
    typeof word === 'string'
      ? [word]
      : Object.entries(word).flatMap(([name, value]) => (value ? [name, value] : [])),
  );
  return ['rtc', ...given.map(shellQuote)].join(' ');
}

type Props = {
  readonly command: string;
  /** Whether the command uses no service, and has no options of one. */
  readonly isOffline?: boolean;
};

/** The text that is read aloud of the button, which the view of another language replaces. */
export const CopyWords = createContext({ copy: 'Copy', copied: 'Copied' });

/** The command that does the same as the view or the button beside it, to copy. */
export function CommandLine({ command, isOffline = false }: Props) {
  const { commandOptions } = useConsole().info;
  const [isCopied, setCopied] = useState(false);
  const { copy: verb, copied } = useContext(CopyWords);
  const line = isOffline ? command : command + commandOptions;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(line);
    setCopied(true);
    window.setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <div className="command">
      <code>{line}</code>
      <button type="button" className="icon" onClick={() => void copy()} aria-label={`${verb} ${line}`}>
        {isCopied ? <Check aria-hidden /> : <Copy aria-hidden />}
      </button>
      <span className="sr-only" role="status">
        {isCopied ? copied : ''}
      </span>
    </div>
  );
}

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

import { type ReactNode, useState } from 'react';
import { CommandLine } from './command-line.tsx';

type Props<Draft> = {
  readonly initial: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Returns the command that does the same as the fields. */
  readonly writeCommand: (draft: Draft) => string;
  /** Renders the fields; `change` sets members of the draft. */
  readonly children: (draft: Draft, change: (changed: Partial<Draft>) => void) => ReactNode;
};

/** Fields of a dialog, and below them the equivalent command. */
export function DraftFields<Draft extends object>(props: Props<Draft>) {
  const { initial, onDraft, writeCommand, children } = props;
  const [draft, setDraft] = useState(initial);
  const change = (changed: Partial<Draft>): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    onDraft(next);
  };
  return (
    <>
      {children(draft, change)}
      <CommandLine command={writeCommand(draft)} />
    </>
  );
}

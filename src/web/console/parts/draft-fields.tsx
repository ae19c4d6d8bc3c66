import { type ReactNode, useState } from 'react';
import { CommandLine } from './command-line.tsx';

type Props<Draft> = {
  readonly initial: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** The command that does what the fields say. */
  readonly commandOf: (draft: Draft) => string;
  /** The fields; `change` sets some of the draft. */
  readonly children: (draft: Draft, change: (changed: Partial<Draft>) => void) => ReactNode;
};

/** Fields of a dialog, and under them the command that they make. */
export function DraftFields<Draft extends object>(props: Props<Draft>) {
  const { initial, onDraft, commandOf, children } = props;
  const [draft, setDraft] = useState(initial);
  const change = (changed: Partial<Draft>): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    onDraft(next);
  };
  return (
    <>
      {children(draft, change)}
      <CommandLine command={commandOf(draft)} />
    </>
  );
}

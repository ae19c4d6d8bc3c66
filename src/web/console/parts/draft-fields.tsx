import { type ReactNode, useState } from 'react';
import type { Change } from './changes.tsx';
import { CommandLine } from './command-line.tsx';

type Asked<Draft> = {
  readonly initial: Draft;
  /** Returns the command that does the same as the fields. */
  readonly writeCommand: (draft: Draft) => string;
  /** Renders the fields; `change` sets members of the draft. */
  readonly fields: (draft: Draft, change: (changed: Partial<Draft>) => void) => ReactNode;
};

type Drafted<Draft> = Asked<Draft> & { readonly run: (draft: Draft) => ReturnType<Change['run']> };

/** The members of a change that asks for a draft: its fields with the equivalent command, and what is done with the draft. */
export function askForDraft<Draft extends object>(drafted: Drafted<Draft>): Pick<Change, 'fields' | 'run'> {
  const { run, ...asked } = drafted;
  let draft = asked.initial;
  return {
    fields: (
      <DraftFields
        {...asked}
        onDraft={(next) => {
          draft = next;
        }}
      />
    ),
    run: () => run(draft),
  };
}

function DraftFields<Draft extends object>(
  props: Asked<Draft> & { readonly onDraft: (draft: Draft) => void },
) {
  const { initial, onDraft, writeCommand, fields } = props;
  const [draft, setDraft] = useState(initial);
  const change = (changed: Partial<Draft>): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    onDraft(next);
  };
  return (
    <>
      {fields(draft, change)}
      <CommandLine command={writeCommand(draft)} />
    </>
  );
}

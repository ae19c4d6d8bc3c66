import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  isValidElement,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useConsole } from '../shell/console-state.tsx';
import { CommandLine } from './command-line.tsx';
import { Problem } from './problem.tsx';
import { useAddress } from './use-address.ts';

/** A change of the service, which is confirmed first, as in the command line. */
export type Change = {
  /** The question, such as `Close room demo?`. */
  readonly question: string;
  /** The consequence of the change, such as what is deleted. */
  readonly consequence?: string | undefined;
  /** Further fields of the dialog. */
  readonly fields?: ReactNode;
  /** Text of the button that does it: `Close the room`. */
  readonly verb: string;
  /** Whether something is removed. */
  readonly isDestructive?: boolean;
  /** The command that does the same. */
  readonly command?: string | undefined;
  /** Rejects with the error that the dialog shows. A returned element is shown before the dialog closes. */
  readonly run: () => Promise<unknown>;
};

const Context = createContext<(change: Change) => void>(() => undefined);

/** Opens the dialog of a change. */
function useAsk(): (change: Change) => void {
  return useContext(Context);
}

export function ChangeProvider({ children }: { readonly children: ReactNode }) {
  const [change, setChange] = useState<Change>();
  return (
    <Context value={setChange}>
      {children}
      {change !== undefined && <ChangeDialog change={change} onClose={() => setChange(undefined)} />}
    </Context>
  );
}

type DialogProps = { readonly change: Change; readonly onClose: () => void };

function ChangeDialog({ change, onClose }: DialogProps) {
  const { info } = useConsole();
  const dialog = useRef<HTMLDialogElement>(null);
  const { run, isRunning, error, result } = useRun(change, dialog);
  const [typed, setTyped] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const place = info.profile ?? info.url;
  const mustType = info.isProtected && change.isDestructive === true;
  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby="change-question">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2 id="change-question">{change.question}</h2>
        {info.isProtected && <ProtectedNote place={place} />}
        {change.consequence !== undefined && <p>{change.consequence}</p>}
        {result === undefined && change.fields}
        {mustType && result === undefined && (
          <label className="field">
            Type <b>{place}</b> to go on
            <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
          </label>
        )}
        {result}
        {error !== undefined && <Problem error={error} />}
        {change.command !== undefined && result === undefined && <CommandLine command={change.command} />}
        <div className="dialog-actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            {result === undefined ? 'Cancel' : 'Done'}
          </button>
          {result === undefined && (
            <RunButton change={change} isRunning={isRunning} isDisabled={mustType && typed !== place} />
          )}
        </div>
      </form>
    </dialog>
  );
}

/** Runs the change once it is confirmed. The dialog closes, unless there is an error or a result to show. */
function useRun(change: Change, dialog: RefObject<HTMLDialogElement | null>) {
  const queries = useQueryClient();
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const [result, setResult] = useState<ReactNode>();
  const run = async (): Promise<void> => {
    setRunning(true);
    setError(undefined);
    try {
      const shown = await change.run();
      void queries.invalidateQueries();
      if (isValidElement(shown)) setResult(shown);
      else dialog.current?.close();
    } catch (reason) {
      setError(reason);
    }
    setRunning(false);
  };
  return { run, isRunning, error, result };
}

function ProtectedNote({ place }: { readonly place: string }) {
  const { info } = useConsole();
  return (
    <p className="protected-note">
      This is the protected profile <b>{place}</b> at {info.url}.
    </p>
  );
}

type RunProps = { readonly change: Change; readonly isRunning: boolean; readonly isDisabled: boolean };

function RunButton({ change, isRunning, isDisabled }: RunProps) {
  const isDanger = useConsole().info.isProtected || change.isDestructive === true;
  return (
    <button type="submit" className={isDanger ? 'danger' : 'primary'} disabled={isRunning || isDisabled}>
      {isRunning ? 'Working…' : change.verb}
    </button>
  );
}

type ButtonProps = Change & {
  /** The value of `do` in the address that opens the dialog, so that it can be led to. */
  readonly action?: string;
  readonly label?: string;
  readonly className?: string;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
};

/** A button that opens the dialog of a change; disabled in a read-only console. */
export function ChangeButton(props: ButtonProps) {
  const { action, label, className, isDisabled = false, children, ...change } = props;
  const { isReadOnly } = useConsole().info;
  const ask = useAsk();
  const address = useAddress();
  const isLedTo = action !== undefined && address.read('do') === action && !isReadOnly;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the dialog opens once for an address
  useEffect(() => {
    if (!isLedTo) return;
    address.change({ do: undefined });
    ask(change);
  }, [isLedTo]);
  return (
    <button
      type="button"
      className={className}
      aria-label={label}
      title={isReadOnly ? 'This console only reads: it was started with --read-only' : label}
      disabled={isReadOnly || isDisabled}
      onClick={(event) => {
        event.stopPropagation();
        ask(change);
      }}
    >
      {children}
    </button>
  );
}

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
  // The dialog may be opened again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for a dialog
  useEffect(() => onDraft(initial), []);
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

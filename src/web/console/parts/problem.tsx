import { CircleAlert } from 'lucide-react';
import { createContext, useContext } from 'react';
import { Link } from 'wouter';
import { RtcError } from '../../../client/rtc-error.ts';

type Props = { readonly error: unknown; readonly onRetry?: (() => void) | undefined };

/** The fault that the page shows above its view, so that the view does not repeat it: nobody answers any more, or for a while. */
export const ShownFault = createContext<'ended' | 'away' | undefined>(undefined);

/** An error of the service: its text, each invalid field, what to do, and the id to find it in the log. */
export function Problem({ error, onRetry }: Props) {
  const shown = useContext(ShownFault);
  if (shown === 'ended' && hasEnded(error)) return null;
  if (shown === 'away' && isWithoutAnswer(error)) return null;
  const { title, fields, hint, requestId } = describe(error);
  return (
    <div className="problem" role="alert">
      <CircleAlert aria-hidden />
      <div>
        <p className="problem-title">{title}</p>
        {fields.length > 0 && (
          <ul>
            {fields.map((field) => (
              <li key={field}>{field}</li>
            ))}
          </ul>
        )}
        {hint !== undefined && <p className="problem-hint">{hint}</p>}
        {requestId !== undefined && (
          <p className="faint">
            Request <RequestLink id={requestId} />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

type Described = {
  readonly title: string;
  readonly fields: readonly string[];
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
};

function hasEnded(error: unknown): boolean {
  return error instanceof RtcError && error.code === 'unreachable';
}

/** Returns whether the command line got no answer of the service, which would have had the id of the request. */
function isWithoutAnswer(error: unknown): boolean {
  return error instanceof RtcError && error.status === 503 && error.requestId === undefined;
}

function describe(error: unknown): Described {
  if (!(error instanceof RtcError)) {
    const title = error instanceof Error ? error.message : String(error);
    return { title: sentence(title), fields: [], hint: undefined, requestId: undefined };
  }
  if (hasEnded(error)) {
    return {
      title: 'The command line that serves this page has ended.',
      fields: [],
      hint: 'Run rtc console again, and open its link.',
      requestId: undefined,
    };
  }
  const fields = error.errors.map((field) => {
    const where = 'pointer' in field ? field.pointer.replace(/^#\/?/, '') : field.parameter;
    return `${where === '' ? 'the body' : where}: ${field.detail}`;
  });
  return {
    title: sentence(error.reason),
    fields,
    hint: error.hint === undefined ? undefined : sentence(error.hint.text),
    requestId: error.requestId,
  };
}

/** Adds a capital letter and a full stop, which texts of the command line lack. */
export function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(capital) || /`|rtc [a-z]+/.test(capital.slice(-24)) ? capital : `${capital}.`;
}

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

import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import {
  type CheckFailure,
  checkTaxCode,
  type DecodedCode,
  decode,
  type MatchPart,
  match,
  messages,
  translateFailure,
  translateFaults,
} from '../../../fiscal/index.ts';
import { todayInItaly } from '../../../people/fiscal-responses.ts';
import { CommandLine, CopyWords, writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { FactList, View } from '../parts/view.tsx';
import type { BatchMessage, BatchSummary } from './batch-messages.ts';
import { MakeCard, PlaceSearch } from './make-card.tsx';
import { LANG_OPTION, READER_LANGUAGE, say } from './reader-language.ts';

/** Italian fiscal codes, computed in the browser: the typed data are not sent anywhere. */
export function FiscalCodes() {
  return (
    <CopyWords value={{ copy: say('Copy'), copied: say('Copied') }}>
      <View
        title={say('Fiscal codes')}
        note={say('computed in this browser, nothing is sent')}
        command="rtc cf --help"
        isOffline
        lang={READER_LANGUAGE}
      >
        <div className="cards">
          <MakeCard />
          <CheckCard />
          <Batch />
        </div>
      </View>
    </CopyWords>
  );
}

type Running =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly name: string; readonly rows: number }
  | { readonly kind: 'done'; readonly name: string; readonly summary: BatchSummary; readonly link: string }
  | { readonly kind: 'failed'; readonly error: Error };

/** A whole file of people: each row gets its code, or the reason without one. */
export function Batch() {
  const { state, run } = useBatch();
  return (
    <section className="card card-wide" aria-labelledby="batch-title">
      <h2 id="batch-title">{say('A whole file')}</h2>
      <DropZone onFile={run} />
      <div aria-live="polite">
        {state.kind === 'running' && (
          <p>
            {state.name}: {state.rows.toLocaleString()} {say('rows so far')}…
          </p>
        )}
        {state.kind === 'failed' && <Problem error={state.error} />}
        {state.kind === 'done' && <BatchResult {...state} />}
      </div>
      <CommandLine
        isOffline
        command={writeCommand('cf', 'generate', '--file', 'people.csv', '--append', ...LANG_OPTION)}
      />
    </section>
  );
}

/** The work on a file, which a worker does; another file ends it. */
function useBatch() {
  const [state, setState] = useState<Running>({ kind: 'idle' });
  const worker = useRef<Worker>(null);
  useEffect(() => () => worker.current?.terminate(), []);
  const run = (file: File | undefined): void => {
    if (file === undefined) return;
    worker.current?.terminate();
    const started = new Worker(new URL('./batch-worker.ts', import.meta.url), { type: 'module' });
    worker.current = started;
    setState({ kind: 'running', name: file.name, rows: 0 });
    started.onmessage = ({ data }: MessageEvent<BatchMessage>) => {
      if (data.kind === 'progress') setState({ kind: 'running', name: file.name, rows: data.rows });
      else if (data.kind === 'failed') setState({ kind: 'failed', error: new Error(data.reason) });
      else {
        const link = URL.createObjectURL(data.csv);
        setState({ kind: 'done', name: file.name, summary: data.summary, link });
      }
    };
    started.postMessage(file);
  };
  return { state, run };
}

/** Takes a file that is dropped or chosen. */
function DropZone({ onFile }: { readonly onFile: (file: File | undefined) => void }) {
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFile(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field within it takes a file by keyboard
    <div
      className={isOver ? 'drop drop-over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Upload aria-hidden />
      <p>
        {say(
          'Drop a CSV file here, with columns such as surname, name, gender, birth date and city, also in Italian.',
        )}
      </p>
      <label className="button">
        {say('Choose a file')}
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          className="sr-only"
          onChange={(event) => onFile(event.target.files?.[0])}
        />
      </label>
    </div>
  );
}

type ResultProps = { readonly name: string; readonly summary: BatchSummary; readonly link: string };

function BatchResult({ name, summary, link }: ResultProps) {
  const { rows, bad, firstBad } = summary;
  return (
    <>
      <p>
        <b>{(rows - bad).toLocaleString()}</b> {say('codes')}, <b>{bad.toLocaleString()}</b>{' '}
        {say('rows without one')}.
      </p>
      <p>
        <a href={link} download={name.replace(/(\.\w+)?$/, '-codes.csv')}>
          {say('Download the file with its codes')}
        </a>
      </p>
      {firstBad.length > 0 && (
        <div className="plain-scroll">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{say('Row')}</th>
                <th scope="col">{say('Why it has no code')}</th>
              </tr>
            </thead>
            <tbody>
              {firstBad.map(({ row, reason }) => (
                <tr key={row}>
                  <td>{row}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const LENGTH = 16;

const KINDS = {
  person: 'of a person',
  provisional: 'a provisional code',
  vat: 'a VAT number',
  organisation: 'of an organisation',
} as const;

/** Reads a code: the person's data, or the error and its position. */
export function CheckCard() {
  const [typed, setTyped] = useState('');
  const code = typed.trim().toUpperCase();
  return (
    <section className="card" aria-labelledby="check-title">
      <h2 id="check-title">{say('Read and check')}</h2>
      <label className="field">
        {say('Fiscal code')}
        <input
          value={typed}
          className="code-input"
          placeholder="RSSMRA80B01H501T"
          autoComplete="off"
          spellCheck={false}
          maxLength={32}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <div aria-live="polite">{code !== '' && <Checked code={code} />}</div>
    </section>
  );
}

function Checked({ code }: { readonly code: string }): ReactNode {
  const asOf = todayInItaly(Date.now());
  const decoded = decode(code, { asOf });
  if (decoded.ok) return <Decoded decoded={decoded} />;
  const taxCode = checkTaxCode(code, { asOf });
  if (taxCode.ok) {
    return (
      <p>
        <Status tone="good">
          {say('Valid')}: {say(KINDS[taxCode.kind])}
        </Status>
      </p>
    );
  }
  return <Faults code={code} failure={decoded} />;
}

function Decoded({ decoded }: { readonly decoded: DecodedCode }) {
  const { codiceFiscale } = decoded;
  return (
    <>
      <p>
        <Status tone="good">{say('Valid')}</Status>
      </p>
      <DecodedFacts decoded={decoded} />
      <CommandLine isOffline command={writeCommand('cf', 'decode', codiceFiscale, ...LANG_OPTION)} />
      <Comparison code={codiceFiscale} />
    </>
  );
}

function DecodedFacts({ decoded }: { readonly decoded: DecodedCode }) {
  const { birthplace, birthDate, sex, omocodia, otherBirthDate } = decoded;
  const today = birthplace.today ?? birthplace.successor;
  return (
    <FactList
      rows={{
        [say('Letters of the names')]: (
          <code>
            {decoded.surname} {decoded.givenName}
          </code>
        ),
        [say('Birth date')]: (
          <>
            {birthDate}
            {otherBirthDate !== null && <span className="faint">{` ${say('or')} ${otherBirthDate}`}</span>}
          </>
        ),
        [say('Sex')]: say(sex === 'F' ? 'Female' : 'Male'),
        [say('Birthplace')]: (
          <>
            {birthplace.name} ({birthplace.province})
            {today !== null && today.name !== birthplace.name && (
              <span className="faint">{` ${say('today')} ${today.name}`}</span>
            )}
          </>
        ),
        Omocodia:
          omocodia.level > 0 ? (
            <>
              {say('Level')} {omocodia.level}, {say('from')} <code>{decoded.baseCode}</code>
            </>
          ) : undefined,
      }}
    />
  );
}

const NOTHING_KNOWN = { surname: '', givenName: '', sex: '', birthDate: '', birthplace: '' };

/** Compares the code with what is known of a person, such as only the names. */
function Comparison({ code }: { readonly code: string }) {
  const [typed, setTyped] = useState(NOTHING_KNOWN);
  const change = (changed: Partial<typeof typed>): void => setTyped((before) => ({ ...before, ...changed }));
  const field = (name: keyof typeof typed, label: string, type: 'text' | 'date') => (
    <label className="field">
      {label}
      <input
        type={type}
        value={typed[name]}
        autoComplete="off"
        onChange={(event) => change({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <details>
      <summary>{say('Compare with a person')}</summary>
      <div className="fields">
        {field('surname', say('Known surname'), 'text')}
        {field('givenName', say('Known given names'), 'text')}
        <label className="field">
          {say('Known sex')}
          <select value={typed.sex} onChange={(event) => change({ sex: event.target.value })}>
            <option value="">{say('Not known')}</option>
            <option value="F">{say('Female')}</option>
            <option value="M">{say('Male')}</option>
          </select>
        </label>
        {field('birthDate', say('Known birth date'), 'date')}
        <PlaceSearch
          label={say('Known birthplace')}
          date={typed.birthDate}
          onChoose={(birthplace) => change({ birthplace })}
        />
      </div>
      <Compared code={code} typed={typed} />
    </details>
  );
}

type ComparedProps = { readonly code: string; readonly typed: typeof NOTHING_KNOWN };

function Compared({ code, typed }: ComparedProps): ReactNode {
  const known = Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== ''));
  if (Object.keys(known).length === 0) return undefined;
  const matched = match(code, known, { asOf: todayInItaly(Date.now()) });
  if (!matched.ok) {
    return (
      <ul className="faults">
        {translateFaults(matched.faults, READER_LANGUAGE).map(({ field, message }) => (
          <li key={field}>{message}</li>
        ))}
      </ul>
    );
  }
  const differing = matched.parts.filter(({ matches }) => !matches);
  return (
    <p>
      <Status tone={matched.matches ? 'good' : 'bad'}>{say(matched.matches ? 'Matches' : 'Differs')}</Status>{' '}
      <span>
        {matched.matches
          ? messages[READER_LANGUAGE].extents[matched.compared]
          : differing.map(describeDifference).join('; ')}
      </span>
    </p>
  );
}

function describeDifference({ part, found, expected }: MatchPart): string {
  return `${messages[READER_LANGUAGE].parts[part]}: ${found} ${say('in the code')}, ${expected} ${say('of the person')}`;
}

type FaultsProps = { readonly code: string; readonly failure: CheckFailure };

function Faults({ code, failure }: FaultsProps) {
  const { start, end, faults } = translateFailure(failure, READER_LANGUAGE);
  const isUnfinished = code.length < LENGTH && /^[A-Z0-9]*$/.test(code);
  return (
    <>
      <p>
        <Status tone={isUnfinished ? 'neutral' : 'bad'}>
          {isUnfinished ? `${code.length} ${say('of 16 characters')}` : say('Not valid')}
        </Status>
      </p>
      {!isUnfinished && (
        <>
          <p className="code-faulty" aria-hidden>
            {code.slice(0, start)}
            <mark>{code.slice(start, end) || '_'}</mark>
            {code.slice(end)}
          </p>
          <ul className="faults">
            {faults.map(({ detail, message, meant }) => (
              <li key={detail}>
                {message}
                {meant !== undefined && (
                  <>
                    : <code>{meant}</code>
                  </>
                )}
              </li>
            ))}
          </ul>
          <CommandLine isOffline command={writeCommand('cf', 'check', code, ...LANG_OPTION)} />
        </>
      )}
    </>
  );
}

import { Upload } from 'lucide-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { CommandLine } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import type { BatchMessage, BatchSummary } from './batch-messages.ts';
import { READER_LANGUAGE } from './reader-language.ts';

type Running =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly name: string; readonly rows: number }
  | { readonly kind: 'done'; readonly name: string; readonly summary: BatchSummary; readonly link: string }
  | { readonly kind: 'failed'; readonly error: Error };

/** A whole file of people: each row gets its code, or the reason without one. */
export function Batch() {
  const [state, setState] = useState<Running>({ kind: 'idle' });
  const [isOver, setOver] = useState(false);
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
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    run(event.dataTransfer.files[0]);
  };
  return (
    <section className="card card-wide" aria-labelledby="batch-title">
      <h2 id="batch-title">A whole file</h2>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the field within it takes a file by keyboard */}
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
          Drop a CSV file here, with columns such as surname, name, gender, birth date and city, also in
          Italian.
        </p>
        <label className="button">
          Choose a file
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            className="sr-only"
            onChange={(event) => run(event.target.files?.[0])}
          />
        </label>
      </div>
      <div aria-live="polite">
        {state.kind === 'running' && (
          <p>
            {state.name}: {state.rows.toLocaleString()} rows so far…
          </p>
        )}
        {state.kind === 'failed' && <Problem error={state.error} />}
        {state.kind === 'done' && <BatchResult {...state} />}
      </div>
      <CommandLine isOffline command="rtc cf generate --file people.csv --append" />
    </section>
  );
}

type ResultProps = { readonly name: string; readonly summary: BatchSummary; readonly link: string };

function BatchResult({ name, summary, link }: ResultProps) {
  const { rows, bad, firstBad } = summary;
  return (
    <>
      <p>
        <b>{(rows - bad).toLocaleString()}</b> codes, <b>{bad.toLocaleString()}</b> rows without one.{' '}
        <a href={link} download={name.replace(/(\.\w+)?$/, '-codes.csv')}>
          Download the file with its codes
        </a>
      </p>
      {firstBad.length > 0 && (
        <div className="plain-scroll">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Row</th>
                <th scope="col">Why it has no code</th>
              </tr>
            </thead>
            <tbody>
              {firstBad.map(({ row, reason }) => (
                <tr key={row}>
                  <td>{row}</td>
                  <td lang={READER_LANGUAGE}>{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

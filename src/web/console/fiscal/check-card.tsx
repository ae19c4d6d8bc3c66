import { type ReactNode, useState } from 'react';
import { todayInItaly } from '../../../contract/today-in-italy.ts';
import {
  type CheckFailure,
  checkTaxCode,
  type DecodedCode,
  decode,
  translateFailure,
} from '../../../fiscal/index.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { Status } from '../parts/status.tsx';
import { READER_LANGUAGE } from './reader-language.ts';

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
      <h2 id="check-title">Read and check</h2>
      <label className="field">
        Fiscal code
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
        <Status tone="good">Valid: {KINDS[taxCode.kind]}</Status>
      </p>
    );
  }
  return <Faults code={code} failure={decoded} />;
}

function Decoded({ decoded }: { readonly decoded: DecodedCode }) {
  const { birthplace, birthDate, sex, omocodia, otherBirthDate, codiceFiscale } = decoded;
  const today = birthplace.today ?? birthplace.successor;
  return (
    <>
      <p>
        <Status tone="good">Valid</Status>
      </p>
      <dl className="facts">
        <div>
          <dt>Letters of the names</dt>
          <dd>
            <code>
              {decoded.surname} {decoded.givenName}
            </code>
          </dd>
        </div>
        <div>
          <dt>Birth date</dt>
          <dd>
            {birthDate}
            {otherBirthDate !== null && <span className="faint"> or {otherBirthDate}</span>}
          </dd>
        </div>
        <div>
          <dt>Sex</dt>
          <dd>{sex === 'F' ? 'Female' : 'Male'}</dd>
        </div>
        <div>
          <dt>Birthplace</dt>
          <dd>
            {birthplace.name} ({birthplace.province})
            {today !== null && today.name !== birthplace.name && (
              <span className="faint"> today {today.name}</span>
            )}
          </dd>
        </div>
        {omocodia.level > 0 && (
          <div>
            <dt>Omocodia</dt>
            <dd>
              Level {omocodia.level}, from <code>{decoded.baseCode}</code>
            </dd>
          </div>
        )}
      </dl>
      <CommandLine isOffline command={writeCommand('cf', 'decode', codiceFiscale)} />
    </>
  );
}

type FaultsProps = { readonly code: string; readonly failure: CheckFailure };

function Faults({ code, failure }: FaultsProps) {
  const { start, end, faults } = translateFailure(failure, READER_LANGUAGE);
  const isUnfinished = code.length < LENGTH && /^[A-Z0-9]*$/.test(code);
  return (
    <>
      <p>
        <Status tone={isUnfinished ? 'neutral' : 'bad'}>
          {isUnfinished ? `${code.length} of ${LENGTH} characters` : 'Not valid'}
        </Status>
      </p>
      {!isUnfinished && (
        <>
          <p className="code-faulty" aria-hidden>
            {code.slice(0, start)}
            <mark>{code.slice(start, end) || '_'}</mark>
            {code.slice(end)}
          </p>
          <ul className="faults" lang={READER_LANGUAGE}>
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
          <CommandLine isOffline command={writeCommand('cf', 'check', code)} />
        </>
      )}
    </>
  );
}

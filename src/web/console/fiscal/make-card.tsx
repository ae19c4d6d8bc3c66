import { type ReactNode, useState } from 'react';
import { todayInItaly } from '../../../contract/today-in-italy.ts';
import { generate, messages, translateFaults } from '../../../fiscal/index.ts';
import { CommandLine, commandOf } from '../parts/command-line.tsx';
import { PlaceSearch } from './place-search.tsx';
import { READER_LANGUAGE } from './reader-language.ts';

type Typed = {
  readonly surname: string;
  readonly givenName: string;
  readonly sex: 'F' | 'M';
  readonly birthDate: string;
  readonly birthplace: string;
};

const EMPTY: Typed = { surname: '', givenName: '', sex: 'F', birthDate: '', birthplace: '' };

/** The code of a person. */
export function MakeCard() {
  const [typed, setTyped] = useState(EMPTY);
  const change = (changed: Partial<Typed>): void => setTyped((before) => ({ ...before, ...changed }));
  const isWhole = Object.values(typed).every((value) => value !== '');
  return (
    <section className="card" aria-labelledby="make-title">
      <h2 id="make-title">Make</h2>
      <div className="fields">
        <label className="field">
          Surname
          <input
            value={typed.surname}
            autoComplete="off"
            onChange={(event) => change({ surname: event.target.value })}
          />
        </label>
        <label className="field">
          Given names
          <input
            value={typed.givenName}
            autoComplete="off"
            onChange={(event) => change({ givenName: event.target.value })}
          />
        </label>
        <label className="field">
          Sex
          <select
            value={typed.sex}
            onChange={(event) => change({ sex: event.target.value === 'M' ? 'M' : 'F' })}
          >
            <option value="F">Female</option>
            <option value="M">Male</option>
          </select>
        </label>
        <label className="field">
          Birth date
          <input
            type="date"
            value={typed.birthDate}
            onChange={(event) => change({ birthDate: event.target.value })}
          />
        </label>
        <PlaceSearch date={typed.birthDate} onChoose={(birthplace) => change({ birthplace })} />
      </div>
      <div aria-live="polite">{isWhole && <Made typed={typed} />}</div>
    </section>
  );
}

function Made({ typed }: { readonly typed: Typed }): ReactNode {
  const made = generate(typed, { asOf: todayInItaly(Date.now()) });
  if (!made.ok) {
    return (
      <ul className="faults" lang={READER_LANGUAGE}>
        {translateFaults(made.faults, READER_LANGUAGE).map(({ field, message }) => (
          <li key={field}>{message}</li>
        ))}
      </ul>
    );
  }
  const { codiceFiscale, warnings } = made;
  return (
    <>
      <output className="code-result">{codiceFiscale}</output>
      {warnings.map((warning) => (
        <p key={warning} lang={READER_LANGUAGE}>
          {messages[READER_LANGUAGE].warnings[warning]}
        </p>
      ))}
      <CommandLine
        isOffline
        command={commandOf(
          'cf',
          'generate',
          ...['--surname', typed.surname, '--name', typed.givenName, '--gender', typed.sex],
          ...['--date', typed.birthDate, '--city', typed.birthplace],
        )}
      />
    </>
  );
}

import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react';
import { generate, messages, type Place, suggestPlaces, translateFaults } from '../../../fiscal/index.ts';
import { todayInItaly } from '../../../people/fiscal-responses.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { TextField } from '../parts/fields.tsx';
import { LANG_OPTION, READER_LANGUAGE, say } from './reader-language.ts';

type Typed = {
  readonly surname: string;
  readonly givenName: string;
  readonly sex: 'F' | 'M' | '';
  readonly birthDate: string;
  readonly birthplace: string;
};

const EMPTY: Typed = { surname: '', givenName: '', sex: '', birthDate: '', birthplace: '' };

const NAMES = [
  { key: 'surname', label: 'Surname' },
  { key: 'givenName', label: 'Given names' },
] as const;

/** The code of a person. */
export function MakeCard() {
  const [typed, setTyped] = useState(EMPTY);
  const change = (changed: Partial<Typed>): void => setTyped((before) => ({ ...before, ...changed }));
  const isWhole = Object.values(typed).every((value) => value !== '');
  return (
    <section className="card" aria-labelledby="make-title">
      <h2 id="make-title">{say('Make')}</h2>
      <div className="fields">
        {NAMES.map(({ key, label }) => (
          <TextField
            key={key}
            label={say(label)}
            value={typed[key]}
            autoComplete="off"
            onChange={(text) => change({ [key]: text })}
          />
        ))}
        <label className="field">
          {say('Sex')}
          <select value={typed.sex} onChange={(event) => change({ sex: readSex(event.target.value) })}>
            {/* Nothing is preset: a sex that nobody chose would make a wrong code. */}
            <option value="">{say('Choose')}</option>
            <option value="F">{say('Female')}</option>
            <option value="M">{say('Male')}</option>
          </select>
        </label>
        <TextField
          label={say('Birth date')}
          type="date"
          value={typed.birthDate}
          onChange={(birthDate) => change({ birthDate })}
        />
        <PlaceSearch
          label={say('Birthplace')}
          date={typed.birthDate}
          onChoose={(birthplace) => change({ birthplace })}
        />
      </div>
      <div aria-live="polite">{isWhole && <Made typed={typed} />}</div>
    </section>
  );
}

function readSex(value: string): Typed['sex'] {
  return value === 'F' || value === 'M' ? value : '';
}

function Made({ typed }: { readonly typed: Typed }): ReactNode {
  const { sex } = typed;
  if (sex === '') return undefined;
  const made = generate({ ...typed, sex }, { asOf: todayInItaly(Date.now()) });
  if (!made.ok) {
    return (
      <ul className="faults">
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
        <p key={warning}>{messages[READER_LANGUAGE].warnings[warning]}</p>
      ))}
      <CommandLine
        isOffline
        command={writeCommand(
          'cf',
          'generate',
          ...['--surname', typed.surname, '--name', typed.givenName, '--gender', typed.sex],
          ...['--date', typed.birthDate, '--city', typed.birthplace, ...LANG_OPTION],
        )}
      />
    </>
  );
}

const MOST = 8;

type Props = {
  readonly label: string;
  /** Places that existed on this day come first; empty for the current ones. */
  readonly date: string;
  /** Called with the Belfiore code, or with an empty text while the typed name is unknown. */
  readonly onChoose: (code: string) => void;
};

/** Searches a comune or a state during typing, by the names of the birth date. */
export function PlaceSearch(props: Props) {
  const id = useId();
  const { typed, type, places, active, isListed, choose, close, onKeyDown } = usePlaceSearch(props);
  return (
    <div className="field place-search">
      <label htmlFor={`${id}-input`}>{props.label}</label>
      <input
        id={`${id}-input`}
        role="combobox"
        autoComplete="off"
        placeholder={say('A comune, or a state')}
        aria-expanded={isListed}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isListed ? `${id}-${active}` : undefined}
        value={typed}
        onKeyDown={onKeyDown}
        onBlur={close}
        onChange={(event) => type(event.target.value)}
      />
      <div id={`${id}-list`} role="listbox" aria-label={say('Places')} className="places" hidden={!isListed}>
        {places.map((place, index) => (
          <PlaceOption
            key={`${place.codiceCatastale} ${place.name}`}
            id={`${id}-${index}`}
            place={place}
            isActive={index === active}
            onChoose={() => choose(place)}
          />
        ))}
      </div>
    </div>
  );
}

/** The typed name, the places that it may mean, and the one of them that the keys have reached. */
function usePlaceSearch({ date, onChoose }: Omit<Props, 'label'>) {
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const places = useMemo(
    () => (typed === '' ? [] : suggestPlaces(typed, { limit: MOST, ...(date === '' ? {} : { date }) })),
    [typed, date],
  );
  const choose = (place: Place | undefined): void => {
    if (place === undefined) return;
    setTyped(`${place.name} (${place.province})`);
    setOpen(false);
    onChoose(place.codiceCatastale);
  };
  const type = (text: string): void => {
    setTyped(text);
    setActive(0);
    setOpen(true);
    onChoose('');
  };
  const close = (): void => setOpen(false);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen || places.length === 0) return;
    if (event.key === 'ArrowDown') setActive((active + 1) % places.length);
    else if (event.key === 'ArrowUp') setActive((active + places.length - 1) % places.length);
    else if (event.key === 'Enter') choose(places[active]);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return { typed, type, places, active, isListed: isOpen && places.length > 0, choose, close, onKeyDown };
}

type OptionProps = {
  readonly id: string;
  readonly place: Place;
  readonly isActive: boolean;
  readonly onChoose: () => void;
};

function PlaceOption({ id, place, isActive, onChoose }: OptionProps) {
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className="place"
      // Handled before the field loses the focus, which closes the list.
      onMouseDown={(event) => {
        event.preventDefault();
        onChoose();
      }}
    >
      <span>
        {place.name} ({place.province})
      </span>
      <span className="faint">{describePeriod(place)}</span>
    </div>
  );
}

/** Says when the place had this name: `until 1928`, `1861–1927`. */
function describePeriod({ validFrom, validTo, codiceCatastale }: Place): string {
  const from = validFrom?.slice(0, 4);
  const to = validTo?.slice(0, 4);
  if (to === undefined) return codiceCatastale;
  return `${codiceCatastale}, ${from === undefined ? `${say('until')} ` : `${from}–`}${to}`;
}

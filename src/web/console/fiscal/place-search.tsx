import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { type Place, suggestPlaces } from '../../../fiscal/index.ts';

const MOST = 8;

type Props = {
  /** Places that existed on this day come first; empty for the current ones. */
  readonly date: string;
  /** Called with the Belfiore code, or with an empty text while the typed name is unknown. */
  readonly onChoose: (code: string) => void;
};

/** Searches a comune or a state during typing, by the names of the birth date. */
export function PlaceSearch({ date, onChoose }: Props) {
  const id = useId();
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
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen || places.length === 0) return;
    if (event.key === 'ArrowDown') setActive((active + 1) % places.length);
    else if (event.key === 'ArrowUp') setActive((active + places.length - 1) % places.length);
    else if (event.key === 'Enter') choose(places[active]);
    else if (event.key === 'Escape') setOpen(false);
    else return;
    event.preventDefault();
  };
  const isListed = isOpen && places.length > 0;
  return (
    <div className="field place-search">
      <label htmlFor={`${id}-input`}>Birthplace</label>
      <input
        id={`${id}-input`}
        role="combobox"
        autoComplete="off"
        placeholder="A comune, or a state"
        aria-expanded={isListed}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isListed ? `${id}-${active}` : undefined}
        value={typed}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
        onChange={(event) => {
          setTyped(event.target.value);
          setActive(0);
          setOpen(true);
          onChoose('');
        }}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Places" className="places" hidden={!isListed}>
        {places.map((place, index) => (
          <div
            key={`${place.codiceCatastale} ${place.name}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className="place"
            // Handled before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(place);
            }}
          >
            <span>
              {place.name} ({place.province})
            </span>
            <span className="faint">{periodOf(place)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** When the place had this name: `until 1928`, `1861 to 1927`. */
function periodOf({ validFrom, validTo, codiceCatastale }: Place): string {
  const from = validFrom?.slice(0, 4);
  const to = validTo?.slice(0, 4);
  if (to === undefined) return codiceCatastale;
  return `${codiceCatastale}, ${from === undefined ? 'until' : `${from} to`} ${to}`;
}

import { suggestPlaces } from '@rtc-service/fiscal';

/*
 * A list of places below a field, in the combobox pattern of the ARIA Authoring Practices: arrows move, Enter chooses,
 * Escape closes.
 */

/**
 * @param input the field, and `list` the list below it
 * @param options `date` answers the birth date that is known, `describe` what stands beside a place, `onChange` is told of
 * the place that was chosen, or undefined while the text is none
 */
export function createPlacePicker({ input, list }, { date, describe, onChange }) {
  let places = [];
  let active = -1;
  let chosen;

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const choose = (place) => {
    chosen = place;
    input.value = place === undefined ? '' : `${place.name} (${place.province})`;
    close();
  };
  const mark = (index) => {
    active = index;
    for (const [at, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(at === active));
    const option = list.children[active];
    if (option === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', option.id);
  };
  const open = () => {
    places = suggestPlaces(input.value, { date: date(), limit: 6 });
    list.replaceChildren(...places.map((place, at) => optionOf(place, at)));
    list.hidden = places.length === 0;
    input.setAttribute('aria-expanded', String(places.length > 0));
    mark(-1);
  };
  const optionOf = (place, at) => {
    const option = document.createElement('div');
    option.id = `place-${at}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    const beside = document.createElement('small');
    beside.textContent = describe(place);
    option.append(place.name, beside);
    // Before the field loses the focus, which closes the list.
    option.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      choose(place);
      onChange(place);
    });
    return option;
  };

  input.addEventListener('input', () => {
    chosen = undefined;
    open();
    onChange(undefined);
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (list.hidden) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      mark((active + step + places.length) % places.length);
    } else if (event.key === 'Enter' && places.length > 0) {
      event.preventDefault();
      const place = places[Math.max(active, 0)];
      choose(place);
      onChange(place);
    }
  });
  return {
    /** Shows a place that came from elsewhere. */
    set: choose,
    /** The Belfiore code of the place that was chosen, else what was typed. */
    value: () => chosen?.codiceCatastale ?? input.value,
    isEmpty: () => input.value === '',
  };
}

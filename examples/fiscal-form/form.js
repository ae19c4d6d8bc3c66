import { check, decode, generate, match, messages } from '@rtc-service/fiscal';
import { createPlacePicker } from './place-picker.js';
import { WORDS } from './words.js';

const CODE_LENGTH = 16;
const byId = (id) => document.getElementById(id);
const fields = { code: byId('code'), surname: byId('surname'), name: byId('name'), date: byId('date') };
const sexes = [...document.querySelectorAll('input[name=sex]')];
/** Fields that hold what the code told: a changed code may change them again. */
const filled = new Set();
/** Fields that somebody has left, and that may therefore be complained about. */
const left = new Set();
let language = 'it';
/** The field of the page by the library's name. */
const FIELD_OF = {
  surname: 'surname',
  givenName: 'name',
  sex: 'sex',
  birthDate: 'date',
  birthplace: 'place',
};

/** Codes are read by the day in Italy. */
const asOf = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Rome' }).format(new Date());
fields.date.max = asOf;

const picker = createPlacePicker(
  { input: byId('place'), list: byId('places') },
  {
    date: () => fields.date.value || undefined,
    describe: ({ province, validTo }) =>
      validTo === null ? province : `${province}, ${words().until(validTo.slice(0, 4))}`,
    onChange: () => {
      filled.delete('place');
      update();
    },
  },
);

fields.code.addEventListener('input', () => {
  // What people paste has spaces and small letters; the code has none.
  const code = fields.code.value.replace(/\s/g, '').toUpperCase();
  if (code !== fields.code.value) fields.code.value = code;
  fillFromCode(code);
  update();
});
for (const field of ['surname', 'name', 'date']) {
  fields[field].addEventListener('input', () => {
    filled.delete(field);
    update();
  });
  fields[field].addEventListener('blur', () => leave(field));
}
byId('place').addEventListener('blur', () => leave('place'));
for (const sex of sexes)
  sex.addEventListener('change', () => {
    filled.delete('sex');
    update();
  });
byId('use').addEventListener('click', () => {
  fields.code.value = byId('result-code').value;
  update();
  fields.code.focus();
});
byId('language').addEventListener('click', () => {
  language = words().otherLanguage;
  translate();
});
byId('form').addEventListener('submit', (event) => event.preventDefault());

translate();

function words() {
  return WORDS[language];
}

function leave(field) {
  left.add(field);
  update();
}

/** Sex, date and place of a valid code, where nobody has typed anything else. */
function fillFromCode(code) {
  const decoded = decode(code, { asOf });
  if (!decoded.ok) return;
  const fill = (field, isEmpty, set) => {
    if (!isEmpty && !filled.has(field)) return;
    set();
    filled.add(field);
  };
  fill('sex', sexOf() === '', () => {
    for (const sex of sexes) sex.checked = sex.value === decoded.sex;
  });
  fill('date', fields.date.value === '', () => {
    fields.date.value = decoded.birthDate;
  });
  fill('place', picker.isEmpty(), () => picker.set(decoded.birthplace));
}

function update() {
  const isValid = showCode();
  const person = {
    surname: fields.surname.value,
    givenName: fields.name.value,
    sex: sexOf(),
    birthDate: fields.date.value,
    birthplace: picker.value(),
  };
  const generated = generate(person, { asOf });
  showFaults(generated.ok ? [] : generated.faults);
  showResult(isValid ? match(fields.code.value, person, { asOf }) : undefined, generated);
}

function sexOf() {
  return sexes.find(({ checked }) => checked)?.value ?? '';
}

/** What is wrong with the code, at its character; while it is typed, only what no further character can mend. */
function showCode() {
  const code = fields.code.value;
  const checked = check(code, { asOf });
  const isTyping = code.length < CODE_LENGTH && !checked.ok && checked.reason === 'length';
  const faults = code === '' || checked.ok || isTyping ? [] : checked.faults;
  fields.code.classList.toggle('is-good', checked.ok);
  fields.code.setAttribute('aria-invalid', String(faults.length > 0));
  showMarks(code, faults);
  const { codeFault } = messages[language];
  const told = faults.map(
    (fault) =>
      codeFault(fault) + (fault.expected === undefined ? '.' : `.${words().expected(fault.expected)}`),
  );
  const neutral = code === '' ? '' : isTyping ? words().typed(code.length) : words().valid;
  showNote(
    'code',
    told.length > 0 ? sentence(told.join(' ')) : neutral,
    told.length > 0 ? 'is-bad' : checked.ok ? 'is-good' : '',
  );
  return checked.ok;
}

function showMarks(code, faults) {
  const shown = byId('code-shown');
  shown.hidden = faults.length === 0;
  shown.replaceChildren(
    ...[...code].map((character, at) => {
      const isWrong = faults.some(({ start, end }) => at >= start && at < end);
      const element = document.createElement(isWrong ? 'mark' : 'span');
      element.textContent = character;
      return element;
    }),
  );
}

/** Of fields that somebody has filled and left. */
function showFaults(faults) {
  for (const field of Object.values(FIELD_OF)) {
    const fault = faults.find((each) => FIELD_OF[each.field] === field && each.reason !== 'missing');
    const isTold = fault !== undefined && left.has(field);
    byId(field)?.setAttribute('aria-invalid', String(isTold));
    byId(field)?.classList.toggle('is-filled', filled.has(field));
    const note = isTold
      ? sentence(messages[language].personFault(fault))
      : filled.has(field)
        ? words().filled
        : '';
    showNote(field, note, isTold ? 'is-bad' : '');
  }
}

/** The code of complete data, or whether the given one fits them. */
function showResult(matched, generated) {
  const isComputed = generated.ok && fields.code.value === '';
  const isMatched = matched?.ok === true;
  byId('result').hidden = !isComputed && !isMatched;
  byId('result-code').hidden = !isComputed;
  byId('use').hidden = !isComputed;
  byId('result').className = `result${isMatched ? (matched.matches ? ' is-good' : ' is-bad') : ''}`;
  if (isComputed) byId('result-code').value = generated.codiceFiscale;
  byId('result-text').textContent = isComputed ? words().computed : isMatched ? verdictOf(matched) : '';
}

function verdictOf({ matches, parts }) {
  const differing = parts.filter((part) => !part.matches).map(({ part }) => messages[language].parts[part]);
  return matches ? words().matches : words().differs(differing);
}

function showNote(field, text, className) {
  const note = byId(`${field}-note`);
  note.textContent = text;
  note.className = `note ${className}`;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function translate() {
  document.documentElement.lang = language;
  document.title = words().title;
  for (const element of document.querySelectorAll('[data-word]'))
    element.textContent = words()[element.dataset.word];
  byId('language').textContent = words().other;
  byId('language').lang = words().otherLanguage;
  update();
}

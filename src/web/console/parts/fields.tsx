import type { ComponentProps, ReactNode } from 'react';

/* The fields of dialogs and cards, each with its name above it. */

type Typed = { readonly label: ReactNode; readonly onChange: (text: string) => void };

export function TextField({ label, onChange, ...input }: Typed & Omit<ComponentProps<'input'>, 'onChange'>) {
  return (
    <label className="field">
      {label}
      <input {...input} onChange={({ target }) => onChange(target.value)} />
    </label>
  );
}

/** A text of several lines. */
export function LongField({
  label,
  onChange,
  ...area
}: Typed & Omit<ComponentProps<'textarea'>, 'onChange'>) {
  return (
    <label className="field">
      {label}
      <textarea {...area} onChange={({ target }) => onChange(target.value)} />
    </label>
  );
}

type SelectProps<Choice> = {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly words: (choice: Choice) => string;
  readonly chosen: Choice;
  readonly onChange: (choice: Choice) => void;
};

export function SelectField<Choice>({ label, choices, words, chosen, onChange }: SelectProps<Choice>) {
  return (
    <label className="field">
      {label}
      <select
        value={words(chosen)}
        onChange={({ target }) => onChange(choices[target.selectedIndex] ?? chosen)}
      >
        {choices.map((choice) => (
          <option key={words(choice)}>{words(choice)}</option>
        ))}
      </select>
    </label>
  );
}

type BoxesProps<Choice extends string> = {
  readonly legend?: ReactNode;
  readonly choices: readonly Choice[];
  readonly chosen: readonly Choice[];
  readonly words?: (choice: Choice) => string | undefined;
  readonly hint?: (choice: Choice) => string;
  readonly onChange: (chosen: readonly Choice[]) => void;
};

/** Boxes to tick. */
export function Boxes<Choice extends string>(props: BoxesProps<Choice>) {
  const { legend, choices, chosen, words = (choice) => choice, hint, onChange } = props;
  const Group = legend === undefined ? 'div' : 'fieldset';
  const toggle = (choice: Choice): readonly Choice[] =>
    chosen.includes(choice) ? chosen.filter((other) => other !== choice) : [...chosen, choice];
  return (
    <Group className="choices">
      {legend !== undefined && <legend>{legend}</legend>}
      {choices.map((choice) => (
        <label key={choice} title={hint?.(choice)}>
          <input
            type="checkbox"
            checked={chosen.includes(choice)}
            onChange={() => onChange(toggle(choice))}
          />
          {words(choice)}
        </label>
      ))}
    </Group>
  );
}

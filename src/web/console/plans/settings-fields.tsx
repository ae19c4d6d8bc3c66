import { type ReactNode, useState } from 'react';
import {
  PLAN_TRIGGERS,
  type PlanTrigger,
  RECORDING_LAYOUTS,
  RECORDING_PRESETS,
  ROLES,
  type Role,
} from '../../../contract/choices.ts';
import type { PlanSettings } from '../../../contract/plans.ts';
import { FLAGS, type Flag, MINUTES, type SettingsDraft, toSettingsDraft } from './room-settings.ts';

const MINUTE_WORDS: Readonly<Record<(typeof MINUTES)[number], string>> = {
  maxDuration: 'Lasts at most, minutes',
  soloTimeout: 'Closed when one is alone, minutes',
  earlyJoin: 'People may join before, minutes',
  emptyTimeout: 'Closed when empty, minutes',
};

type FlagWords = Readonly<Partial<Record<Flag, string>>>;

const RECORD_FLAGS: FlagWords = {
  audioOnly: 'Sound only',
  recordTracks: 'Keep the speech of each participant',
};

const TRANSCRIBE_FLAGS: FlagWords = {
  partialResults: 'Captions before a sentence has ended',
  withoutCaptions: 'No captions in the room',
  withoutPunctuation: 'No punctuation and capitals',
  profanityFilter: 'Mask profanity',
};

type FieldsProps = {
  readonly draft: SettingsDraft;
  readonly onChange: (changed: Partial<SettingsDraft>) => void;
};

const PARTS = [
  ['Times', TimeFields, ['opensAt', 'closesAt', 'warnings', ...MINUTES]],
  ['People and lobby', LobbyFields, ['maxParticipants', 'lobby', 'roles']],
  ['What starts by itself', StartFields, ['record', 'transcribe']],
  ['Words and metadata', TextFields, ['language', 'vocabulary', 'metadata']],
] as const satisfies readonly (readonly [
  title: string,
  fields: (props: FieldsProps) => ReactNode,
  names: readonly (keyof SettingsDraft)[],
])[];

type PartsProps = FieldsProps & {
  /** The part that is open though it is empty. */
  readonly first?: (typeof PARTS)[number][0];
};

/** Shows the settings in parts that are closed while they are empty, so that the dialog is short at first. */
export function SettingsFields({ draft, onChange, first }: PartsProps) {
  const [opened] = useState(() =>
    PARTS.filter(([title, , names]) => title === first || names.some((name) => Boolean(draft[name]))),
  );
  return PARTS.map((part) => {
    const [title, Fields] = part;
    return (
      <details className="more" key={title} open={opened.includes(part)}>
        <summary>{title}</summary>
        <Fields draft={draft} onChange={onChange} />
      </details>
    );
  });
}

function TimeFields({ draft, onChange }: FieldsProps) {
  return (
    <div className="fields">
      <label className="field">
        Opens, in your time
        <input
          type="datetime-local"
          step={1}
          value={draft.opensAt}
          onChange={({ target }) => onChange({ opensAt: target.value })}
        />
      </label>
      <label className="field">
        Closes, in your time
        <input
          type="datetime-local"
          step={1}
          value={draft.closesAt}
          onChange={({ target }) => onChange({ closesAt: target.value })}
        />
      </label>
      {MINUTES.map((field) => (
        <label className="field" key={field}>
          {MINUTE_WORDS[field]}
          <input
            type="number"
            min={0}
            step="any"
            value={draft[field]}
            onChange={({ target }) => onChange({ [field]: target.value })}
          />
        </label>
      ))}
      <label className="field">
        Warnings, minutes before the end
        <input
          value={draft.warnings}
          placeholder="5, 1"
          onChange={({ target }) => onChange({ warnings: target.value })}
        />
      </label>
    </div>
  );
}

/** Chosen roles replace the service's default. */
function LobbyFields({ draft: { lobby, roles, maxParticipants }, onChange }: FieldsProps) {
  const chosen = roles ?? [];
  const toggle = (role: Role): readonly Role[] =>
    chosen.includes(role) ? chosen.filter((other) => other !== role) : [...chosen, role];
  return (
    <>
      <label className="field">
        People at most
        <input
          type="number"
          min={1}
          placeholder="no limit"
          value={maxParticipants}
          onChange={({ target }) => onChange({ maxParticipants: target.value })}
        />
      </label>
      <fieldset className="choices">
        <legend>Lobby</legend>
        <label>
          <input type="checkbox" checked={lobby} onChange={() => onChange({ lobby: !lobby })} />
          People wait until they are admitted
        </label>
      </fieldset>
      {lobby && (
        <fieldset className="choices">
          <legend>
            Roles that do not wait{roles === undefined ? ': hosts and moderators, unless you choose' : ''}
          </legend>
          {ROLES.map((role) => (
            <label key={role}>
              <input
                type="checkbox"
                checked={chosen.includes(role)}
                onChange={() => onChange({ roles: toggle(role) })}
              />
              {role}
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

const TRIGGER_WORDS: Readonly<Record<PlanTrigger, string>> = {
  firstJoin: 'when the first person joins',
  firstPublish: 'when the first track is published',
  'role:host': 'when a host is there',
};

/** Describes what starts by itself, in the words of the fields; undefined for what does not. */
export function describeStarts(settings: PlanSettings) {
  const { record, transcribe, layout, preset, flags } = toSettingsDraft(settings);
  const describe = (trigger: PlanTrigger | '', how: readonly (string | undefined)[]) =>
    trigger === '' ? undefined : [TRIGGER_WORDS[trigger], ...how].filter(Boolean).join(', ');
  const list = (words: FlagWords) => flags.map((flag) => words[flag]?.toLowerCase());
  return {
    record: describe(record, [layout, preset, ...list(RECORD_FLAGS)]),
    transcribe: describe(transcribe, list(TRANSCRIBE_FLAGS)),
  };
}

/** How it is recorded and transcribed is asked once it is. */
function StartFields({ draft, onChange }: FieldsProps) {
  const { record, transcribe, layout, preset, flags } = draft;
  const toggle = (flag: Flag): readonly Flag[] =>
    flags.includes(flag) ? flags.filter((other) => other !== flag) : [...flags, flag];
  const onToggle = (flag: Flag): void => onChange({ flags: toggle(flag) });
  return (
    <>
      <TriggerField name="Record" value={record} onChange={(at) => onChange({ record: at })} />
      {record !== '' && (
        <>
          <div className="fields">
            <ChoiceField
              name="Arrangement"
              value={layout}
              choices={RECORDING_LAYOUTS}
              onChange={(chosen) => onChange({ layout: chosen })}
            />
            <ChoiceField
              name="Size"
              value={preset}
              choices={RECORDING_PRESETS}
              onChange={(chosen) => onChange({ preset: chosen })}
            />
          </div>
          <FlagFields words={RECORD_FLAGS} flags={flags} onToggle={onToggle} />
        </>
      )}
      <TriggerField name="Transcribe" value={transcribe} onChange={(at) => onChange({ transcribe: at })} />
      {transcribe !== '' && <FlagFields words={TRANSCRIBE_FLAGS} flags={flags} onToggle={onToggle} />}
    </>
  );
}

type TriggerProps = {
  readonly name: string;
  readonly value: PlanTrigger | '';
  readonly onChange: (at: PlanTrigger | '') => void;
};

function TriggerField({ name, value, onChange }: TriggerProps) {
  return (
    <label className="field">
      {name}
      <select
        value={value}
        onChange={({ target }) => onChange(PLAN_TRIGGERS.find((each) => each === target.value) ?? '')}
      >
        <option value="">not by itself</option>
        {PLAN_TRIGGERS.map((trigger) => (
          <option key={trigger} value={trigger}>
            {TRIGGER_WORDS[trigger]}
          </option>
        ))}
      </select>
    </label>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly onChange: (chosen: string) => void;
};

function ChoiceField({ name, value, choices, onChange }: ChoiceProps) {
  return (
    <label className="field">
      {name}
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">as the service</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}

type FlagProps = {
  readonly words: FlagWords;
  readonly flags: readonly Flag[];
  readonly onToggle: (flag: Flag) => void;
};

function FlagFields({ words, flags, onToggle }: FlagProps) {
  return (
    <div className="choices">
      {FLAGS.filter((flag) => flag in words).map((flag) => (
        <label key={flag}>
          <input type="checkbox" checked={flags.includes(flag)} onChange={() => onToggle(flag)} />
          {words[flag]}
        </label>
      ))}
    </div>
  );
}

function TextFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <div className="fields">
        <label className="field">
          Language of transcriptions
          <input
            value={draft.language}
            placeholder="it-IT, or auto"
            onChange={({ target }) => onChange({ language: target.value })}
          />
        </label>
        <label className="field">
          Names and terms, with commas between
          <input value={draft.vocabulary} onChange={({ target }) => onChange({ vocabulary: target.value })} />
        </label>
      </div>
      <label className="field">
        Metadata
        <textarea
          className="mono"
          rows={2}
          spellCheck={false}
          value={draft.metadata}
          onChange={({ target }) => onChange({ metadata: target.value })}
        />
      </label>
    </>
  );
}

import { type ReactNode, useState } from 'react';
import {
  PLAN_TRIGGERS,
  type PlanTrigger,
  RECORDING_LAYOUTS,
  RECORDING_PRESETS,
  ROLES,
} from '../../../contract/choices.ts';
import type { PlanSettings } from '../../../contract/plans.ts';
import { Boxes, LongField, SelectField, TextField } from '../parts/fields.tsx';
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
      <TextField
        label="Opens, in your time"
        type="datetime-local"
        step={1}
        value={draft.opensAt}
        onChange={(opensAt) => onChange({ opensAt })}
      />
      <TextField
        label="Closes, in your time"
        type="datetime-local"
        step={1}
        value={draft.closesAt}
        onChange={(closesAt) => onChange({ closesAt })}
      />
      {MINUTES.map((field) => (
        <TextField
          key={field}
          label={MINUTE_WORDS[field]}
          type="number"
          min={0}
          step="any"
          value={draft[field]}
          onChange={(minutes) => onChange({ [field]: minutes })}
        />
      ))}
      <TextField
        label="Warnings, minutes before the end"
        value={draft.warnings}
        placeholder="5, 1"
        onChange={(warnings) => onChange({ warnings })}
      />
    </div>
  );
}

/** Chosen roles replace the service's default. */
function LobbyFields({ draft: { lobby, roles, maxParticipants }, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label="People at most"
        type="number"
        min={1}
        placeholder="no limit"
        value={maxParticipants}
        onChange={(text) => onChange({ maxParticipants: text })}
      />
      <fieldset className="choices">
        <legend>Lobby</legend>
        <label>
          <input type="checkbox" checked={lobby} onChange={() => onChange({ lobby: !lobby })} />
          People wait until they are admitted
        </label>
      </fieldset>
      {lobby && (
        <Boxes
          legend={`Roles that do not wait${roles === undefined ? ': hosts and moderators, unless you choose' : ''}`}
          choices={ROLES}
          chosen={roles ?? []}
          onChange={(chosen) => onChange({ roles: chosen })}
        />
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
  const listFlags = (words: FlagWords) => (
    <Boxes
      choices={FLAGS.filter((flag) => flag in words)}
      chosen={flags}
      words={(flag) => words[flag]}
      onChange={(chosen) => onChange({ flags: chosen })}
    />
  );
  return (
    <>
      <TriggerField name="Record" value={record} onChange={(at) => onChange({ record: at })} />
      {record !== '' && (
        <>
          <div className="fields">
            <SelectField
              label="Arrangement"
              choices={['', ...RECORDING_LAYOUTS]}
              words={orDefault}
              chosen={layout}
              onChange={(chosen) => onChange({ layout: chosen })}
            />
            <SelectField
              label="Size"
              choices={['', ...RECORDING_PRESETS]}
              words={orDefault}
              chosen={preset}
              onChange={(chosen) => onChange({ preset: chosen })}
            />
          </div>
          {listFlags(RECORD_FLAGS)}
        </>
      )}
      <TriggerField name="Transcribe" value={transcribe} onChange={(at) => onChange({ transcribe: at })} />
      {transcribe !== '' && listFlags(TRANSCRIBE_FLAGS)}
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
    <SelectField<PlanTrigger | ''>
      label={name}
      choices={['', ...PLAN_TRIGGERS]}
      words={(trigger) => (trigger === '' ? 'not by itself' : TRIGGER_WORDS[trigger])}
      chosen={value}
      onChange={onChange}
    />
  );
}

function orDefault(choice: string): string {
  return choice === '' ? 'as the service' : choice;
}

function TextFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <div className="fields">
        <TextField
          label="Language of transcriptions"
          value={draft.language}
          placeholder="it-IT, or auto"
          onChange={(language) => onChange({ language })}
        />
        <TextField
          label="Names and terms, with commas between"
          value={draft.vocabulary}
          onChange={(vocabulary) => onChange({ vocabulary })}
        />
      </div>
      <LongField
        label="Metadata"
        className="mono"
        rows={2}
        spellCheck={false}
        value={draft.metadata}
        onChange={(metadata) => onChange({ metadata })}
      />
    </>
  );
}

import { Pencil, Plus } from 'lucide-react';
import { ROLES, type Role } from '../../../contract/choices.ts';
import type { Plan, PlanPut } from '../../../contract/plans.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { askForDraft } from '../parts/draft-fields.tsx';

/* The dialog of a plan, for a new one and for a change. */

const MINUTES = ['maxDuration', 'soloTimeout', 'earlyJoin', 'emptyTimeout'] as const;

const MINUTE_WORDS: Readonly<Record<(typeof MINUTES)[number], string>> = {
  maxDuration: 'Lasts at most, minutes',
  soloTimeout: 'Closed when one is alone, minutes',
  earlyJoin: 'People may join before, minutes',
  emptyTimeout: 'Closed when empty, minutes',
};

/** The texts in the fields of a plan; an empty one is not planned. */
type Draft = {
  readonly planId: string;
  readonly kind: 'room' | 'prefix';
  readonly name: string;
  /** In the time of this browser, as its field has it. */
  readonly opensAt: string;
  readonly closesAt: string;
  readonly warnings: string;
  readonly maxParticipants: string;
  readonly lobby: boolean;
  /** The roles that do not wait in the lobby; undefined for those of the service. */
  readonly roles: readonly Role[] | undefined;
  readonly language: string;
  readonly vocabulary: string;
  readonly metadata: string;
} & Readonly<Record<(typeof MINUTES)[number], string>>;

const EMPTY: Draft = {
  ...{ planId: '', kind: 'prefix', name: '', opensAt: '', closesAt: '', warnings: '' },
  ...{ language: '', vocabulary: '', metadata: '', maxParticipants: '', lobby: false, roles: undefined },
  ...{ maxDuration: '', soloTimeout: '', earlyJoin: '', emptyTimeout: '' },
};

function toDraft(plan: Plan): Draft {
  const toMinutes = (seconds: number | undefined): string =>
    seconds === undefined ? '' : String(seconds / 60);
  return {
    planId: plan.planId,
    kind: plan.room === undefined ? 'prefix' : 'room',
    name: plan.room ?? plan.prefix ?? '',
    opensAt: toLocalTime(plan.opensAt),
    closesAt: toLocalTime(plan.closesAt),
    warnings: plan.closingWarnings?.map((seconds) => seconds / 60).join(', ') ?? '',
    maxParticipants: plan.maxParticipants === undefined ? '' : String(plan.maxParticipants),
    lobby: plan.lobby === true,
    roles: plan.roles,
    language: plan.language ?? '',
    vocabulary: plan.vocabulary?.join(', ') ?? '',
    metadata: plan.metadata ?? '',
    maxDuration: toMinutes(plan.maxDuration),
    soloTimeout: toMinutes(plan.soloTimeout),
    earlyJoin: toMinutes(plan.earlyJoin),
    emptyTimeout: toMinutes(plan.emptyTimeout),
  };
}

/** An instant in the form of a field for a local time: `2026-01-31T09:30:05`. */
function toLocalTime(instant: string | undefined): string {
  if (instant === undefined) return '';
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const toSeconds = (minutes: string): number => Math.round(Number(minutes) * 60);

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

function toPlan(draft: Draft, before: Plan | undefined): PlanPut {
  const { kind, name, opensAt, closesAt, warnings, language, vocabulary, metadata } = draft;
  const minutes = MINUTES.filter((field) => draft[field] !== '');
  // No warnings at all have no text: a plan that had none keeps it so.
  const hasNoWarnings = warnings.trim() === '' && before?.closingWarnings?.length === 0;
  const closingWarnings = hasNoWarnings ? [] : splitList(warnings).map(toSeconds);
  return {
    ...(kind === 'room' ? { room: name } : { prefix: name }),
    ...(opensAt === '' ? {} : { opensAt: new Date(opensAt).toISOString() }),
    ...(closesAt === '' ? {} : { closesAt: new Date(closesAt).toISOString() }),
    ...Object.fromEntries(minutes.map((field) => [field, toSeconds(draft[field])])),
    ...(closingWarnings.length === 0 && !hasNoWarnings ? {} : { closingWarnings }),
    ...(draft.maxParticipants === '' ? {} : { maxParticipants: Number(draft.maxParticipants) }),
    ...(draft.lobby || before?.lobby === false ? { lobby: draft.lobby } : {}),
    ...(draft.roles === undefined ? {} : { roles: [...draft.roles] }),
    // The dialog does not show what starts by itself, and keeps it.
    ...(before?.record === undefined ? {} : { record: before.record }),
    ...(before?.transcribe === undefined ? {} : { transcribe: before.transcribe }),
    ...(language === '' ? {} : { language }),
    ...(vocabulary.trim() === '' ? {} : { vocabulary: splitList(vocabulary) }),
    ...(metadata === '' ? {} : { metadata }),
  };
}

function toCommand(id: string, plan: PlanPut): string {
  const { room, prefix, opensAt, closesAt, closingWarnings, language, vocabulary = [], metadata } = plan;
  const seconds = (value: number | undefined) => (value === undefined ? undefined : `${value}s`);
  const options = {
    '--room': room,
    '--prefix': prefix,
    '--opens-at': opensAt,
    '--early-join': seconds(plan.earlyJoin),
    '--closes-at': closesAt,
    '--max-duration': seconds(plan.maxDuration),
    '--solo-timeout': seconds(plan.soloTimeout),
    '--empty-timeout': seconds(plan.emptyTimeout),
    '--closing-warnings':
      closingWarnings?.length === 0 ? 'none' : closingWarnings?.map((each) => `${each}s`).join(','),
    '--max-participants': plan.maxParticipants === undefined ? undefined : String(plan.maxParticipants),
    '--roles': plan.roles?.length === 0 ? 'none' : plan.roles?.join(','),
    '--record': plan.record?.at,
    '--layout': plan.record?.layout,
    '--preset': plan.record?.preset,
    '--transcribe': plan.transcribe?.at,
    '--language': language,
    '--metadata': metadata,
  };
  const { participants = {}, options: spoken = {} } = plan.transcribe ?? {};
  const flags = {
    '--lobby': plan.lobby,
    '--audio-only': plan.record?.audioOnly,
    '--record-tracks': plan.record?.recordTracks,
    '--partial-results': spoken.partialResults,
    '--without-captions': spoken.captions === false,
    '--without-punctuation': spoken.punctuation === false,
    '--profanity-filter': spoken.profanityFilter,
  };
  return writeCommand(
    ...['plans', 'set', id === '' ? 'PLAN' : id],
    ...Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...vocabulary.flatMap((term) => ['--term', term]),
    ...Object.entries(participants).flatMap(([key, name]) => ['--speaker', `${key}=${name}`]),
    ...Object.entries(flags).map(([name, isSet]) => (isSet === true ? name : undefined)),
  );
}

/** Makes a plan, or changes the given one. */
export function PlanButton({ plan }: { readonly plan?: Plan }) {
  const initial = plan === undefined ? EMPTY : toDraft(plan);
  return (
    <ChangeButton
      {...(plan === undefined ? { className: 'primary', action: 'create' } : {})}
      change={() => ({
        question: plan === undefined ? 'Make a plan' : `Change the plan ${plan.planId}`,
        consequence: 'Rooms that are open follow it at once.',
        verb: plan === undefined ? 'Make it' : 'Save',
        ...askForDraft({
          initial,
          writeCommand: (draft) => toCommand(draft.planId, toPlan(draft, plan)),
          fields: (draft, change) => (
            <PlanFields draft={draft} isNew={plan === undefined} onChange={change} />
          ),
          run: async (draft) => {
            const { ignored } = await client.plans.put(draft.planId, toPlan(draft, plan));
            if (ignored.length === 0) return undefined;
            return <p>Rooms that are open now keep their {ignored.join(', ')}.</p>;
          },
        }),
      })}
    >
      {plan === undefined ? <Plus aria-hidden /> : <Pencil aria-hidden />}
      {plan === undefined ? ' Make a plan' : ' Change'}
    </ChangeButton>
  );
}

type FieldsProps = {
  readonly draft: Draft;
  readonly isNew: boolean;
  readonly onChange: (changed: Partial<Draft>) => void;
};

function PlanFields({ draft, isNew, onChange }: FieldsProps) {
  return (
    <>
      <div className="fields">
        {isNew && (
          <label className="field">
            Id of the plan
            <input
              value={draft.planId}
              required
              placeholder="lessons"
              onChange={({ target }) => onChange({ planId: target.value })}
            />
          </label>
        )}
        <label className="field">
          For
          <select
            value={draft.kind}
            onChange={({ target }) => onChange({ kind: target.value === 'room' ? 'room' : 'prefix' })}
          >
            <option value="prefix">all rooms that begin with</option>
            <option value="room">the room</option>
          </select>
        </label>
        <label className="field">
          {draft.kind === 'room' ? 'Room' : 'Beginning of names'}
          <input
            value={draft.name}
            required
            placeholder={draft.kind === 'room' ? 'lesson-7' : 'lesson-'}
            onChange={({ target }) => onChange({ name: target.value })}
          />
        </label>
      </div>
      <TimeFields draft={draft} onChange={onChange} />
      <LobbyFields draft={draft} onChange={onChange} />
      <TextFields draft={draft} onChange={onChange} />
    </>
  );
}

function TimeFields({ draft, onChange }: Omit<FieldsProps, 'isNew'>) {
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

/** Chosen roles replace those of the service. */
function LobbyFields({ draft: { lobby, roles, maxParticipants }, onChange }: Omit<FieldsProps, 'isNew'>) {
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

function TextFields({ draft, onChange }: Omit<FieldsProps, 'isNew'>) {
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

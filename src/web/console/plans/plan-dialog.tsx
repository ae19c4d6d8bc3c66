import { Pencil, Plus } from 'lucide-react';
import type { Plan, PlanPut } from '../../../contract/plans.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { askForDraft } from '../parts/draft-fields.tsx';
import { readSettings, type SettingsDraft, toSettingsDraft, writeOptions } from './room-settings.ts';
import { SettingsFields } from './settings-fields.tsx';

/* The dialog of a plan, for a new one and for a change. */

/** The contents of the fields of a plan. */
type Draft = SettingsDraft & {
  readonly planId: string;
  readonly kind: 'room' | 'prefix';
  readonly name: string;
};

function toDraft(plan: Plan | undefined): Draft {
  return {
    planId: plan?.planId ?? '',
    kind: plan?.room === undefined ? 'prefix' : 'room',
    name: plan?.room ?? plan?.prefix ?? '',
    ...toSettingsDraft(plan ?? {}),
  };
}

function toPlan(draft: Draft, before: Plan | undefined): PlanPut {
  const { kind, name } = draft;
  return { ...(kind === 'room' ? { room: name } : { prefix: name }), ...readSettings(draft, before) };
}

function toCommand(draft: Draft, before: Plan | undefined): string {
  const { planId, kind, name } = draft;
  return writeCommand(
    ...['plans', 'set', planId === '' ? 'PLAN' : planId, `--${kind}`, name],
    ...writeOptions(readSettings(draft, before)),
  );
}

/** Makes a plan, or changes the given one. */
export function PlanButton({ plan }: { readonly plan?: Plan }) {
  return (
    <ChangeButton
      {...(plan === undefined ? { className: 'primary', action: 'create' } : {})}
      change={() => ({
        question: plan === undefined ? 'Make a plan' : `Change the plan ${plan.planId}`,
        consequence: 'Rooms that are open follow it at once.',
        verb: plan === undefined ? 'Make it' : 'Save',
        ...askForDraft({
          initial: toDraft(plan),
          writeCommand: (draft) => toCommand(draft, plan),
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
      <SettingsFields draft={draft} onChange={onChange} first="Times" />
    </>
  );
}

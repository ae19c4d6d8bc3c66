import { Pencil, Plus, Trash2 } from 'lucide-react';
import type { Plan, PlanPut } from '../../../contract/plans.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { SelectField, TextField } from '../parts/fields.tsx';
import type { Cells } from '../parts/find-and-save.tsx';
import { Details, ListView } from '../parts/list-view.tsx';
import { Ago, Clock, describeDuration } from '../parts/time.tsx';
import { readSettings, type SettingsDraft, toSettingsDraft, writeOptions } from './room-settings.ts';
import { describeStarts, SettingsFields } from './settings-fields.tsx';

const PAGE_SIZE = 100;

/** The view lists plans for rooms, by a name or by the beginning of names. */
export function Plans() {
  return (
    <ListView
      title="Plans"
      what="plans"
      command="rtc plans list"
      actions={<PlanButton />}
      queryKey={KEYS.plans()}
      read={(cursor) => client.plans.list({ limit: PAGE_SIZE, cursor })}
      items={({ plans }) => plans}
      columns={COLUMNS}
      cells={CELLS}
      getId={({ planId }) => planId}
      empty={{
        title: 'Nothing is planned',
        text: 'A plan opens and closes a room, or all rooms whose names begin alike, at a time or after one.',
      }}
      panel={(plan) => ({ title: plan.planId, children: <PlanDetails plan={plan} /> })}
    />
  );
}

function describeRooms({ room, prefix }: Plan): string {
  return room ?? `${prefix}*`;
}

function describeLobby({ lobby, roles }: Plan): string | undefined {
  if (lobby !== true) return undefined;
  if (roles === undefined) return 'People wait until they are admitted';
  return roles.length === 0 ? 'Everybody waits' : `All wait but ${roles.join(', ')}`;
}

const describeSeconds = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : describeDuration(seconds * 1000);

function PlanDetails({ plan }: { readonly plan: Plan }) {
  const { planId, closingWarnings, vocabulary } = plan;
  const starts = describeStarts(plan);
  return (
    <>
      <Details
        rows={{
          Rooms: describeRooms(plan),
          Opens: plan.opensAt === undefined ? undefined : <Clock at={plan.opensAt} />,
          'People may join before': describeSeconds(plan.earlyJoin),
          Closes: plan.closesAt === undefined ? undefined : <Clock at={plan.closesAt} />,
          'Lasts at most': describeSeconds(plan.maxDuration),
          'Closed when one is alone': describeSeconds(plan.soloTimeout),
          'Closed when empty': describeSeconds(plan.emptyTimeout),
          'Warnings before the end':
            closingWarnings === undefined
              ? undefined
              : closingWarnings.map((seconds) => describeSeconds(seconds)).join(', ') || 'None',
          'People at most': plan.maxParticipants,
          Lobby: describeLobby(plan),
          'Recorded by itself': starts.record,
          'Transcribed by itself': starts.transcribe,
          Language: plan.language,
          Vocabulary: vocabulary?.join(', '),
          Metadata: plan.metadata,
          Made: <Clock at={plan.createdAt} />,
          Changed: <Clock at={plan.updatedAt} />,
        }}
      />
      <div className="actions">
        <PlanButton plan={plan} />
        <ChangeButton
          className="danger-quiet"
          question={`Delete the plan ${planId}?`}
          consequence="Rooms that are open stay open, and are no longer closed by it."
          verb="Delete the plan"
          isDestructive
          command={writeCommand('plans', 'delete', planId)}
          run={() => client.plans.delete(planId)}
        >
          <Trash2 aria-hidden /> Delete
        </ChangeButton>
      </div>
      <CommandLine command={writeCommand('plans', 'get', planId)} />
    </>
  );
}

const COLUMNS: readonly TableColumn<Plan>[] = [
  {
    heading: 'Plan',
    width: 'minmax(6rem, 1.4fr)',
    sortBy: ({ planId }) => planId,
    cell: ({ planId }) => <CellButton>{planId}</CellButton>,
  },
  {
    heading: 'Rooms',
    width: 'minmax(6rem, 1.4fr)',
    sortBy: describeRooms,
    cell: (plan) => <span title={describeRooms(plan)}>{describeRooms(plan)}</span>,
  },
  {
    heading: 'Opens',
    width: 'minmax(7.5rem, 1fr)',
    isSecondary: true,
    sortBy: ({ opensAt = '' }) => opensAt,
    cell: ({ opensAt }) => <Clock at={opensAt} />,
  },
  {
    heading: 'Closes',
    width: 'minmax(7.5rem, 1fr)',
    sortBy: ({ closesAt = '' }) => closesAt,
    cell: ({ closesAt }) => <Clock at={closesAt} />,
  },
  {
    heading: 'Lasts at most',
    width: 'minmax(7rem, 0.8fr)',
    isSecondary: true,
    sortBy: ({ maxDuration = 0 }) => maxDuration,
    cell: ({ maxDuration }) => describeSeconds(maxDuration) ?? <span className="faint">—</span>,
  },
  {
    heading: 'Changed',
    width: 'minmax(7rem, 0.8fr)',
    isSecondary: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <Ago at={updatedAt} />,
  },
];

const CELLS: Cells<Plan> = {
  plan: ({ planId }) => planId,
  room: ({ room }) => room,
  prefix: ({ prefix }) => prefix,
  opens: ({ opensAt }) => opensAt,
  closes: ({ closesAt }) => closesAt,
  maxDurationSeconds: ({ maxDuration }) => maxDuration,
  changed: ({ updatedAt }) => updatedAt,
};

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
      question={plan === undefined ? 'Make a plan' : `Change the plan ${plan.planId}`}
      consequence="Rooms that are open follow it at once."
      verb={plan === undefined ? 'Make it' : 'Save'}
      {...askForDraft({
        initial: toDraft(plan),
        writeCommand: (draft) => toCommand(draft, plan),
        fields: (draft, change) => <PlanFields draft={draft} isNew={plan === undefined} onChange={change} />,
        run: async (draft) => {
          const { ignored } = await client.plans.put(draft.planId, toPlan(draft, plan));
          if (ignored.length === 0) return undefined;
          return <p>Rooms that are open now keep their {ignored.join(', ')}.</p>;
        },
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
          <TextField
            label="Id of the plan"
            value={draft.planId}
            required
            placeholder="lessons"
            onChange={(planId) => onChange({ planId })}
          />
        )}
        <SelectField<Draft['kind']>
          label="For"
          choices={['prefix', 'room']}
          words={(kind) => (kind === 'room' ? 'the room' : 'all rooms that begin with')}
          chosen={draft.kind}
          onChange={(kind) => onChange({ kind })}
        />
        <TextField
          label={draft.kind === 'room' ? 'Room' : 'Beginning of names'}
          value={draft.name}
          required
          placeholder={draft.kind === 'room' ? 'lesson-7' : 'lesson-'}
          onChange={(name) => onChange({ name })}
        />
      </div>
      <SettingsFields draft={draft} onChange={onChange} first="Times" />
    </>
  );
}

import { Trash2 } from 'lucide-react';
import type { Plan } from '../../../contract/plans.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import type { TableColumn } from '../parts/data-table.tsx';
import type { Cells } from '../parts/find-and-save.tsx';
import { Details, ListView, OpenButton } from '../parts/list-view.tsx';
import { Ago, Clock, describeDuration } from '../parts/time.tsx';
import { PlanButton } from './plan-dialog.tsx';
import { describeStarts } from './settings-fields.tsx';

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
      read={async (cursor) => {
        const { plans, nextCursor } = await client.plans.list({ limit: PAGE_SIZE, cursor });
        return { items: plans, nextCursor };
      }}
      columns={COLUMNS}
      cells={CELLS}
      getId={({ planId }) => planId}
      empty={{
        title: 'Nothing is planned',
        text: 'A plan opens and closes a room, or all rooms whose names begin alike, at a time or after one.',
      }}
      panel={(plan) => ({ title: plan.planId, content: <PlanDetails plan={plan} /> })}
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
          change={() => ({
            question: `Delete the plan ${planId}?`,
            consequence: 'Rooms that are open stay open, and are no longer closed by it.',
            verb: 'Delete the plan',
            isDestructive: true,
            command: writeCommand('plans', 'delete', planId),
            run: () => client.plans.delete(planId),
          })}
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
    id: 'plan',
    heading: 'Plan',
    width: 'minmax(6rem, 1.4fr)',
    sortBy: ({ planId }) => planId,
    cell: ({ planId }) => <OpenButton id={planId}>{planId}</OpenButton>,
  },
  {
    id: 'rooms',
    heading: 'Rooms',
    width: 'minmax(6rem, 1.4fr)',
    sortBy: describeRooms,
    cell: (plan) => <span title={describeRooms(plan)}>{describeRooms(plan)}</span>,
  },
  {
    id: 'opens',
    heading: 'Opens',
    width: 'minmax(7.5rem, 1fr)',
    isSecondary: true,
    sortBy: ({ opensAt = '' }) => opensAt,
    cell: ({ opensAt }) => <Clock at={opensAt} />,
  },
  {
    id: 'closes',
    heading: 'Closes',
    width: 'minmax(7.5rem, 1fr)',
    sortBy: ({ closesAt = '' }) => closesAt,
    cell: ({ closesAt }) => <Clock at={closesAt} />,
  },
  {
    id: 'duration',
    heading: 'Lasts at most',
    width: 'minmax(7rem, 0.8fr)',
    isSecondary: true,
    sortBy: ({ maxDuration = 0 }) => maxDuration,
    cell: ({ maxDuration }) => describeSeconds(maxDuration) ?? <span className="faint">—</span>,
  },
  {
    id: 'changed',
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

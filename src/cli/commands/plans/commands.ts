import type { Plan } from '../../../contract/plans.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import {
  argument,
  defineCommand,
  existing,
  listOfExisting,
  ofNoun,
  option,
} from '../../framework/parameters.ts';
import { PLAN_OPTIONS, ROOM_SETTINGS, readPlanSettings } from '../../framework/plan-options.ts';
import { forEachTarget } from '../../framework/report-error.ts';
import { type Column, done, instant, nothing, record } from '../../terminal/result.ts';
import { printWarning } from '../../terminal/terminal.ts';

const FIELDS = [
  'planId',
  'room',
  'prefix',
  'opensAt',
  'closesAt',
  'maxDuration',
  'soloTimeout',
  'earlyJoin',
  'closingWarnings',
  'lobby',
  'roles',
  'maxParticipants',
  'record',
  'transcribe',
  'emptyTimeout',
  'metadata',
  'vocabulary',
  'language',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof Plan)[];

const duration = (seconds: number | undefined) => (seconds === undefined ? undefined : { seconds });

/** Describes when something starts, and how, such as `firstJoin, layout speaker`. */
function describeStart(start: Plan['record'] | Plan['transcribe']): string | undefined {
  if (start === undefined) return undefined;
  const { at = 'firstJoin', ...how } = start;
  const fields = Object.entries(how).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [at, ...fields].join(', ');
}

const LIST_COLUMNS: readonly Column<Plan>[] = [
  { heading: 'PLAN', value: ({ planId }) => planId, paint: 'name' },
  { heading: 'ROOMS', value: ({ room, prefix }) => room ?? `${prefix}*` },
  { heading: 'OPENS', value: ({ opensAt }) => instant(opensAt) },
  { heading: 'CLOSES', value: ({ closesAt }) => instant(closesAt) },
  { heading: 'MAX-DURATION', value: ({ maxDuration }) => duration(maxDuration) },
];

const RECORD_COLUMNS: readonly Column<Plan>[] = [
  ...LIST_COLUMNS,
  { heading: 'SOLO-TIMEOUT', value: ({ soloTimeout }) => duration(soloTimeout) },
  { heading: 'EARLY-JOIN', value: ({ earlyJoin }) => duration(earlyJoin) },
  {
    heading: 'CLOSING-WARNINGS',
    value: ({ closingWarnings }) => closingWarnings?.map((seconds) => `${seconds} s`).join(', '),
  },
  { heading: 'LOBBY', value: ({ lobby }) => (lobby === undefined ? undefined : lobby ? 'yes' : 'no') },
  { heading: 'ROLES', value: ({ roles }) => roles?.join(', ') },
  { heading: 'MAX-PARTICIPANTS', value: ({ maxParticipants }) => maxParticipants },
  { heading: 'RECORD', value: ({ record }) => describeStart(record) },
  { heading: 'TRANSCRIBE', value: ({ transcribe }) => describeStart(transcribe) },
  { heading: 'EMPTY-TIMEOUT', value: ({ emptyTimeout }) => duration(emptyTimeout) },
  { heading: 'METADATA', value: ({ metadata }) => metadata },
  { heading: 'VOCABULARY', value: ({ vocabulary }) => vocabulary?.join(', ') },
  { heading: 'LANGUAGE', value: ({ language }) => language },
  { heading: 'UPDATED', value: ({ updatedAt }) => instant(updatedAt) },
];

const set = defineCommand({
  verb: 'set',
  summary: 'Make a plan, or replace it',
  description:
    'For the room of a name, or for all rooms with a prefix: the longest prefix wins, and a name wins over prefixes. What is not given is not planned. Open rooms follow the new plan at once.',
  fields: FIELDS,
  arguments: { id: argument('id of the plan, which you choose', { completes: 'plans' }) },
  options: {
    room: option('--room <name>', 'the room that the plan is for', { completes: 'rooms' }),
    prefix: option('--prefix <text>', 'plan for all rooms whose names begin so'),
    ...PLAN_OPTIONS,
    ...ROOM_SETTINGS,
  },
  examples: [
    {
      line: 'rtc plans set lessons --prefix lesson- --max-duration 1h --solo-timeout 10m',
      does: 'Every lesson lasts an hour at most',
    },
    {
      line: 'rtc plans set visits --prefix visit- --lobby --roles host',
      does: 'Everybody but hosts waits to be admitted',
    },
    {
      line: 'rtc plans set visit --room visit-7 --opens-at 2026-12-01T09:00:00Z --early-join 10m --closes-at 2026-12-01T09:30:00Z',
      does: 'One appointment',
    },
    {
      line: 'rtc plans set talks --prefix talk- --record role:host --layout speaker --transcribe firstPublish',
      does: 'Talks are recorded when a host is there, and transcribed when somebody can be heard',
    },
  ],
  async run(context, input) {
    const { room, prefix } = input;
    const body = {
      ...(room === undefined ? {} : { room }),
      ...(prefix === undefined ? {} : { prefix }),
      ...readPlanSettings(input, context.io.clock()),
    };
    const client = await context.client();
    const { plan, ignored } = await client.plans.put(input.id, body, { signal: context.io.signal });
    if (ignored.length > 0)
      printWarning(context.terminal, `rooms that are open now keep their ${ignored.join(', ')}`);
    return record(plan, RECORD_COLUMNS);
  },
});

const list = defineCommand({
  verb: 'list',
  summary: 'List the plans',
  fields: FIELDS,
  options: { limit: LIMIT },
  examples: [
    { line: 'rtc plans list', does: 'All of them, by id' },
    { line: 'rtc plans list --json planId,prefix', does: 'Two fields, as JSON' },
  ],
  async run(context, choice) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choice, {
      name: 'plans',
      read: (page) => client.plans.list({ ...page, signal }),
      columns: LIST_COLUMNS,
      identify: ({ planId }) => planId,
      empty: 'There is no plan. Make one: rtc plans set lessons --prefix lesson- --max-duration 1h',
    });
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one plan',
  fields: FIELDS,
  arguments: { id: existing('id of the plan', 'plans') },
  examples: [{ line: 'rtc plans get lessons', does: 'Everything that it sets' }],
  async run(context, { id }) {
    const client = await context.client();
    const plan = await client.plans.get(id, { signal: context.io.signal });
    return record(plan, RECORD_COLUMNS);
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete plans',
  description: 'Their open rooms stay open, and are no longer closed by them.',
  arguments: { ids: listOfExisting('id of the plan, or of several', 'plans') },
  examples: [{ line: 'rtc plans delete lessons', does: 'Rooms are opened without it from now on' }],
  async run(context, { ids }) {
    const client = await context.client();
    const { exitCode, succeeded } = await forEachTarget(context, ids, (id) =>
      client.plans.delete(id, { signal: context.io.signal }),
    );
    if (succeeded.length === 0) return nothing({ exitCode });
    return done(`Deleted ${succeeded.join(', ')}.`, { exitCode });
  },
});

export const commands = ofNoun('plans', [set, list, get, remove]);

import { plural } from '../../../contract/amounts.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { AdmittedPerson, WaitingPerson } from '../../../contract/waiting.ts';
import { usageError } from '../../errors/cli-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { forEachTarget, nameSucceeded } from '../../framework/for-each-target.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import {
  argument,
  defineCommand,
  flag,
  listOfExisting,
  optionalListArgument,
} from '../../framework/parameters.ts';
import { type Column, instant, type ListResult, list, nothing } from '../../terminal/result.ts';

const ROOM = argument('name of the room', { completes: 'rooms' });

const COLUMNS: readonly Column<WaitingPerson>[] = [
  { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
  { heading: 'NAME', value: ({ name }) => name },
  { heading: 'ROLE', value: ({ role }) => role },
  { heading: 'WAITING', value: ({ waitingSince }) => instant(waitingSince) },
];

export const waiting = defineCommand({
  noun: 'rooms',
  verb: 'waiting',
  summary: 'List the people who wait to be admitted',
  description: 'The longest first. The room need not be open.',
  needs: 'service',
  fields: ['identity', 'name', 'role', 'waitingSince'] satisfies readonly (keyof WaitingPerson)[],
  arguments: { room: ROOM },
  options: { watch: WATCH },
  examples: [
    { line: 'rtc rooms waiting lesson-7', does: 'Who waits, and since when' },
    { line: 'rtc rooms waiting lesson-7 --watch', does: 'The same, updated live' },
  ],
  isStream: (input) => input.watch,
  async run(context, { room, watch }) {
    const read = (): Promise<ListResult> => readWaiting(context, room);
    return watch ? watchList(context, read) : read();
  },
});

async function readWaiting(context: Context, room: string): Promise<ListResult> {
  const client = await context.client();
  const found = await client.waiting.list(room, { signal: context.io.signal });
  return list({
    response: found,
    records: found.waiting,
    columns: COLUMNS,
    identify: ({ identity }) => identity,
    empty: found.lobby
      ? `Nobody waits for ${room}.`
      : `${room} has no lobby. Give it one: rtc rooms create ${shellQuote(room)} --lobby`,
  });
}

export const admit = defineCommand({
  noun: 'rooms',
  verb: 'admit',
  summary: 'Admit people who wait for a room',
  description:
    'They get a token of the room at once, and with --json it is printed too. Somebody who was admitted already gets another token.',
  needs: 'service',
  fields: [
    'identity',
    'name',
    'role',
    'token',
    'url',
    'expiresAt',
  ] satisfies readonly (keyof AdmittedPerson)[],
  arguments: {
    room: ROOM,
    identities: optionalListArgument('identity of somebody who waits, or of several', {
      completes: 'waiting',
    }),
  },
  options: { all: flag('--all', 'admit everybody who waits') },
  examples: [
    { line: 'rtc rooms admit lesson-7 ada', does: 'Let ada in' },
    { line: 'rtc rooms admit lesson-7 --all', does: 'Let everybody in who waits' },
  ],
  async run(context, { room, identities, all }) {
    if (all === identities.length > 0) throw usageError('give identities, or --all');
    const client = await context.client();
    const { signal } = context.io;
    if (all) return admittedList((await client.waiting.admitAll(room, { signal })).admitted, room);
    const admitted: AdmittedPerson[] = [];
    const { exitCode } = await forEachTarget(context, identities, async (identity) => {
      admitted.push(await client.waiting.admit({ room, identity }, { signal }));
    });
    if (admitted.length === 0) return nothing({ exitCode });
    return { ...admittedList(admitted, room), exitCode };
  },
});

function admittedList(admitted: readonly AdmittedPerson[], room: string): ListResult {
  return list({
    response: { admitted },
    records: admitted,
    columns: [
      { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
      { heading: 'NAME', value: ({ name }) => name },
      { heading: 'ROLE', value: ({ role }) => role },
    ],
    identify: ({ identity }) => identity,
    notes: admitted.length === 0 ? [] : [`Admitted ${plural(admitted.length, 'person', 'people')}.`],
    empty: `Nobody waits for ${room}.`,
  });
}

export const deny = defineCommand({
  noun: 'rooms',
  verb: 'deny',
  summary: 'Deny people who wait for a room',
  description:
    'They are disconnected, and cannot come again with the same token. To keep somebody out for longer: rtc participants remove ROOM IDENTITY --block 1h.',
  needs: 'service',
  arguments: { room: ROOM, identities: listOfExisting('identity of somebody who waits', 'waiting') },
  options: {},
  examples: [{ line: 'rtc rooms deny lesson-7 eve', does: 'eve is disconnected' }],
  async run(context, { room, identities }) {
    const client = await context.client();
    const { signal } = context.io;
    const results = await forEachTarget(context, identities, (identity) =>
      client.waiting.deny({ room, identity }, { signal }),
    );
    return nameSucceeded(results, (names) => `Denied ${names}.`);
  },
});

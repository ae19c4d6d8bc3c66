import type { Vocabulary } from '../../../contract/vocabulary.ts';
import { argument, defineCommand, listArgument, ofNoun } from '../../framework/parameters.ts';
import { type Column, done, record } from '../../terminal/result.ts';
import { readSourceLines } from '../../terminal/source-text.ts';

const ROOM = argument('name of the room; it does not have to be open', { completes: 'rooms' });

const COLUMNS: readonly Column<Vocabulary>[] = [{ heading: 'TERMS', value: ({ terms }) => terms.join(', ') }];

const get = defineCommand({
  verb: 'get',
  summary: 'Show the names and terms of a room',
  fields: ['terms'],
  arguments: { room: ROOM },
  examples: [
    { line: 'rtc vocabulary get demo', does: 'All of them' },
    { line: "rtc vocabulary get demo --json | jq -r '.terms[]'", does: 'One per line' },
  ],
  async run(context, { room }) {
    const client = await context.client();
    const response = await client.vocabulary.get(room, { signal: context.io.signal });
    return record(response, COLUMNS);
  },
});

const set = defineCommand({
  verb: 'set',
  summary: 'Replace the names and terms of a room',
  description:
    'Transcriptions that begin afterwards prefer these words, if the model supports it. Put the most important ones first.',
  fields: ['terms'],
  arguments: {
    room: ROOM,
    terms: listArgument('names and terms; - reads them from stdin, one per line'),
  },
  examples: [
    { line: "rtc vocabulary set demo 'Ada Lovelace' LiveKit 'codice fiscale'", does: 'These three' },
    { line: 'rtc vocabulary set demo - < terms.txt', does: 'One per line' },
  ],
  async run(context, { room, terms }) {
    const list = await readSourceLines(context.io, terms);
    const client = await context.client();
    const response = await client.vocabulary.set(room, list, { signal: context.io.signal });
    return record(response, COLUMNS);
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete the names and terms of a room',
  arguments: { room: ROOM },
  examples: [{ line: 'rtc vocabulary delete demo', does: 'Remove all of them' }],
  async run(context, { room }) {
    const client = await context.client();
    await client.vocabulary.delete(room, { signal: context.io.signal });
    return done(`${room} has no vocabulary.`);
  },
});

export const commands = ofNoun('vocabulary', [get, set, remove]);

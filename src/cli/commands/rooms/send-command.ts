import type { RoomData, RoomDataSent } from '../../../contract/room-data.ts';
import { defineCommand } from '../../framework/command.ts';
import {
  argument,
  asText,
  existing,
  flag,
  listOption,
  notEmpty,
  option,
} from '../../framework/parameters.ts';
import { record } from '../../terminal/result.ts';
import { plural } from '../../terminal/time.ts';

const FIELDS = ['sentTo'] as const satisfies readonly (keyof RoomDataSent)[];

export const send = defineCommand({
  noun: 'rooms',
  verb: 'send',
  summary: 'Send data to clients in a room',
  description:
    'Clients receive it as the event dataReceived. Identities of --to that are not in the room are skipped.',
  needs: 'service',
  fields: FIELDS,
  arguments: {
    room: existing('name of the room', 'rooms'),
    text: argument('text to send', {
      source: 'typed-or-file',
      parse: asText,
    }),
  },
  options: {
    topic: option('--topic <topic>', 'topic, by which clients tell messages apart', { parse: notEmpty }),
    to: listOption('--to <identity>', 'identity that receives it; default: everyone'),
    lossy: flag('--lossy', 'send it without retransmission, for data that is soon out of date'),
    base64: flag('--base64', 'the text is base64; send its bytes'),
  },
  examples: [
    { line: `rtc rooms send demo '{"poll":"open"}' --topic poll`, does: 'To everyone' },
    { line: 'rtc rooms send demo "Five minutes left" --to ada --to bob', does: 'To two participants' },
    { line: 'base64 -w0 state.bin | rtc rooms send demo - --base64', does: 'Bytes, up to 15 KiB' },
  ],
  async run(context, { room, text, topic, to, lossy, base64 }) {
    const message: RoomData = {
      data: base64 ? text.trim() : text,
      ...(base64 ? { encoding: 'base64' as const } : {}),
      ...(topic === undefined ? {} : { topic }),
      ...(lossy ? { kind: 'lossy' as const } : {}),
      ...(to.length === 0 ? {} : { destinationIdentities: [...to] }),
    };
    const client = await context.client();
    const sent = await client.rooms.send(room, message, { signal: context.io.signal });
    const missing = to.filter((identity) => !sent.sentTo.includes(identity));
    return record({
      response: sent,
      record: sent,
      columns: [{ heading: 'SENT-TO', value: ({ sentTo }) => sentTo.join(',') }],
      notes: [
        `Sent to ${plural(sent.sentTo.length, 'participant')}.`,
        ...(missing.length === 0 ? [] : [`Not there: ${missing.join(', ')}.`]),
      ],
    });
  },
});

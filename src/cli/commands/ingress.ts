import { INGRESS_TYPES } from '../../contract/choices.ts';
import type { Ingress, IngressCreate } from '../../contract/ingress.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { acceptsConnections } from '../connection/accepts-connections.ts';
import { WATCH, YES } from '../framework/common-options.ts';
import { confirmOnService } from '../framework/confirm-on-service.ts';
import type { Context } from '../framework/context.ts';
import { watchList } from '../framework/lists/watch-list.ts';
import {
  argument,
  choice,
  defineCommand,
  existing,
  ofNoun,
  option,
  optionalArgument,
} from '../framework/parameters.ts';
import { type Column, done, type ListResult, list, record } from '../terminal/result.ts';
import { printWarning } from '../terminal/terminal.ts';

const FIELDS = [
  'ingressId',
  'name',
  'streamKey',
  'url',
  'inputType',
  'roomName',
  'participantIdentity',
  'participantName',
  'reusable',
] as const satisfies readonly (keyof Ingress)[];

const ID: Column<Ingress> = { heading: 'INGRESS-ID', value: (ingress) => ingress.ingressId, paint: 'name' };
const TYPE: Column<Ingress> = {
  heading: 'TYPE',
  value: (ingress) => ingress.inputType.replace(/_INPUT$/, '').toLowerCase(),
};
const IDENTITY: Column<Ingress> = { heading: 'IDENTITY', value: (ingress) => ingress.participantIdentity };
const NAME: Column<Ingress> = { heading: 'NAME', value: (ingress) => ingress.participantName };
const URL_COLUMN: Column<Ingress> = {
  heading: 'URL',
  value: (ingress) => ingress.url,
  // Empty for a media server whose configuration has no address for the type.
  display: (ingress) => (ingress.url === '' ? '(none)' : ingress.url),
};

/** Columns without the stream key, because a list is shown to more people than the broadcaster; --json has it. */
const LIST_COLUMNS: readonly Column<Ingress>[] = [ID, TYPE, IDENTITY, NAME, URL_COLUMN];

const RECORD_COLUMNS: readonly Column<Ingress>[] = [
  ID,
  { heading: 'ROOM', value: (ingress) => ingress.roomName },
  TYPE,
  URL_COLUMN,
  { heading: 'STREAM-KEY', value: (ingress) => ingress.streamKey },
  IDENTITY,
  NAME,
];

const ROOM_COLUMN: Column<Ingress> = { heading: 'ROOM', value: ({ roomName }) => roomName };

const ROOM = argument('name of the room', { completes: 'rooms' });

const create = defineCommand({
  verb: 'create',
  summary: 'Create an address to which an encoder streams',
  description:
    'The room does not have to exist yet. Keep the stream key secret: everybody who has it can publish.',
  fields: FIELDS,
  arguments: { room: ROOM },
  options: {
    type: option('--type <type>', 'protocol; default rtmp', choice(INGRESS_TYPES)),
    identity: option('--identity <id>', 'identity of the stream in the room; default: a generated one'),
    name: option('--name <name>', 'name that others see; default "Ingress Stream"', {
      source: 'typed-or-stdin',
    }),
  },
  examples: [
    { line: 'rtc ingress create demo --name "Stage camera"', does: 'For OBS or ffmpeg, over RTMP' },
    { line: 'rtc ingress create demo --type whip --json url,streamKey', does: 'For a WHIP encoder' },
  ],
  async run(context, { room, type, identity, name }) {
    const client = await context.client();
    const body: IngressCreate = {
      ...(type === undefined ? {} : { type }),
      ...(identity === undefined ? {} : { participantIdentity: identity }),
      ...(name === undefined ? {} : { participantName: name }),
    };
    const ingress = await client.ingress.create(room, body, { signal: context.io.signal });
    await warnAboutUnreachableIngress(context, ingress);
    return record(ingress, RECORD_COLUMNS, {
      notes: ingress.url === '' ? [] : ['Stream to URL with STREAM-KEY; who has the key can publish.'],
    });
  },
});

/** The media server returns its address whether a worker listens on it or not. */
async function warnAboutUnreachableIngress(
  { terminal, io }: Context,
  { url, inputType }: Ingress,
): Promise<void> {
  if (url === '') {
    const setting = inputType === 'WHIP_INPUT' ? 'whip_base_url' : 'rtmp_base_url';
    printWarning(
      terminal,
      `the media server has no address for this stream; set ingress.${setting} in its configuration`,
    );
  } else if ((await acceptsConnections(url, io.signal)) === false) {
    printWarning(
      terminal,
      `nothing accepts connections at ${url} from here; does an ingress worker run? rtc doctor`,
    );
  }
}

const listIngress = defineCommand({
  verb: 'list',
  summary: 'List the ingress of a room, or of all rooms',
  fields: FIELDS,
  arguments: { room: optionalArgument('name of the room; default: all rooms', { completes: 'rooms' }) },
  options: { watch: WATCH },
  examples: [
    { line: 'rtc ingress list demo', does: 'All of them, without stream keys' },
    { line: 'rtc ingress list demo --json ingressId,url,streamKey', does: 'With stream keys' },
  ],
  async run(context, { room, watch }) {
    const read = async (): Promise<ListResult> => {
      const client = await context.client();
      const { signal } = context.io;
      const response = await (room === undefined
        ? client.ingress.listEverywhere({ signal })
        : client.ingress.list(room, { signal }));
      return list({
        response,
        records: response.ingress,
        columns: room === undefined ? [ROOM_COLUMN, ...LIST_COLUMNS] : LIST_COLUMNS,
        identify: (ingress) => ingress.ingressId,
        empty:
          room === undefined
            ? 'No room has an ingress. Make one: rtc ingress create ROOM'
            : `${room} has no ingress. Make one: rtc ingress create ${shellQuote(room)}`,
      });
    };
    return watch ? watchList(context, read) : read();
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete an ingress',
  arguments: { room: ROOM, id: existing('id of the ingress', 'ingress') },
  options: { yes: YES },
  examples: [{ line: 'rtc ingress delete demo IN_wnBrCvKPXSSm', does: 'Asks first' }],
  async run(context, { room, id, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting an ingress',
      question: async () =>
        `Delete ingress ${id} of ${room}? A stream that runs will end, and its stream key is lost.`,
    });
    await client.ingress.delete(room, id, { signal: context.io.signal });
    return done(`Deleted ${id}.`);
  },
});

export const commands = ofNoun('ingress', [create, listIngress, remove]);

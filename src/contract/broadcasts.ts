import { type Static, Type } from 'typebox';
import { RECORDING_LAYOUTS, RECORDING_PRESETS } from './choices.ts';
import { idParameter, instantSchema, nameSchema } from './names.ts';
import { nextCursor, PAGE } from './paging.ts';
import { closed, closedQuery, named, open, orNull } from './schema.ts';

/** URLs to which a broadcast may go at once: the recorder encodes once and sends to each. */
export const MAX_STREAM_URLS = 10;

const broadcastId = Type.String({ description: 'Form bc_<id>', examples: ['bc_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] });

export const BroadcastParams = Type.Object({
  broadcastId: idParameter('Form bc_<id>', 'bc_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

const streamUrl = Type.String({
  minLength: 1,
  maxLength: 1024,
  format: 'stream-url',
  description:
    'rtmp://, rtmps:// or srt://, with the stream key. A URL is a secret: it is stored encrypted, and shown without its key',
  examples: ['rtmps://live.example.org/app/stream-key'],
});

const playlistName = (description: string, example: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}[.]m3u8$', description, examples: [example] });

const HlsSettingsSchema = closed('HlsSettings', 'Also write the broadcast as HLS, beside the recordings', {
  segmentSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 60, description: 'Length of a segment in seconds; default 4' }),
  ),
  playlist: Type.Optional(
    playlistName('Name of the playlist of everything; default index.m3u8', 'index.m3u8'),
  ),
  livePlaylist: Type.Optional(
    playlistName('Name of the playlist of the newest segments; default live.m3u8', 'live.m3u8'),
  ),
});

export const BroadcastSettingsSchema = closed(
  'BroadcastSettings',
  'Where a room is broadcast to, and how; urls or hls is required',
  {
    urls: Type.Optional(
      Type.Array(streamUrl, {
        maxItems: MAX_STREAM_URLS,
        description: 'Where to send the stream: either all with srt, or none; may be left out with hls',
      }),
    ),
    hls: Type.Optional(HlsSettingsSchema),
    layout: Type.Optional(
      Type.Enum(RECORDING_LAYOUTS, {
        description: 'Arrangement of the people, as of a recording; default grid',
      }),
    ),
    preset: Type.Optional(
      Type.Enum(RECORDING_PRESETS, {
        description: 'Resolution and frames per second of the picture; default H264_720P_30',
      }),
    ),
  },
);
export type BroadcastSettings = Static<typeof BroadcastSettingsSchema>;

export const BroadcastChangeSchema = closed(
  'BroadcastChange',
  'URLs to add to a running broadcast, and to remove from it',
  {
    add: Type.Optional(
      Type.Array(streamUrl, { maxItems: MAX_STREAM_URLS, description: 'URLs to which the stream goes too' }),
    ),
    remove: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024, examples: ['bu_7Qd0s9nYkW1xZ3aB'] }), {
        maxItems: MAX_STREAM_URLS,
        description: 'The urlId, or the whole URL, of those to which it goes no longer',
      }),
    ),
  },
);
export type BroadcastChange = Static<typeof BroadcastChangeSchema>;

const URL_STATES = ['connecting', 'active', 'failed', 'removed', 'ended'] as const;

const urlFields = {
  urlId: Type.String({ description: 'Form bu_<id>', examples: ['bu_7Qd0s9nYkW1xZ3aB'] }),
  url: Type.String({
    description: 'The URL without its key',
    examples: ['rtmps://live.example.org/app/***'],
  }),
};

const BroadcastUrlSchema = named('BroadcastUrl', 'One receiver of a broadcast', {
  ...urlFields,
  state: Type.Enum(URL_STATES, {
    $id: 'BroadcastUrlState',
    description:
      'connecting: the receiver has not accepted yet; failed: it refused or closed, and the recorder has given up; removed: by a caller; ended: with the broadcast',
  }),
  since: instantSchema('When it came into this state'),
  error: orNull(Type.String(), 'Why it failed, as the recorder tells it; else null'),
  retries: Type.Integer({ description: 'How often the recorder has connected again' }),
});
export type BroadcastUrl = Static<typeof BroadcastUrlSchema>;

const hlsFields = {
  segmentSeconds: Type.Integer({ description: 'Length of a segment in seconds', examples: [4] }),
  bucket: orNull(Type.String({ examples: ['recordings'] }), 'Null for a local folder'),
  folder: Type.String({
    description: "Prefix of the keys in the bucket, or path of the folder on the recorder's file system",
    examples: ['demo/2026-01-31T09-30-00.000Z.hls'],
  }),
  playlist: Type.String({ description: 'Name of the playlist of everything', examples: ['index.m3u8'] }),
  livePlaylist: Type.String({
    description: 'Name of the playlist of the newest segments',
    examples: ['live.m3u8'],
  }),
};

const BroadcastHlsSchema = named('BroadcastHls', 'Where the HLS of a broadcast is', hlsFields);

const BROADCAST_WORDS = ['broadcasting', 'stopped', 'aborted', 'failed'] as const;

const broadcastFields = {
  broadcastId,
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  egressId: orNull(
    Type.String({ examples: ['EG_tH8vdkRoTDWY'] }),
    "LiveKit's id of the recorder's work; null if it never began",
  ),
  startedAt: orNull(instantSchema('When it was started'), 'When it was started; null if it never began'),
  stoppedAt: orNull(instantSchema('When it was stopped'), 'Null while it is running'),
  endedAt: orNull(instantSchema('When its recorder ended'), 'When everything had ended; null before'),
  durationMs: orNull(
    Type.Integer({ examples: [61_500] }),
    'Length of the HLS in milliseconds; null until known',
  ),
  sizeBytes: orNull(Type.Integer({ examples: [7_340_032] }), 'Size of the HLS in bytes; null until known'),
  error: orNull(Type.String(), 'Why the broadcast failed or was aborted'),
  urls: Type.Array(BroadcastUrlSchema, {
    description: 'Its receivers, in the order in which they were added',
  }),
  hls: orNull(BroadcastHlsSchema, 'Null without HLS'),
};

/** A stored broadcast, until it is deleted. */
export const BroadcastSchema = named('Broadcast', 'A broadcast of a room, until it is deleted', {
  ...broadcastFields,
  status: Type.Enum(BROADCAST_WORDS, {
    $id: 'BroadcastState',
    description:
      'stopped: by a caller, the media server, or because the room ended; aborted: stopped before any media arrived; failed: `error` says why',
  }),
});
export type Broadcast = Static<typeof BroadcastSchema>;

export const BroadcastStartSchema = named('BroadcastStart', 'The running broadcast', {
  ...broadcastFields,
  status: Type.Enum(['broadcasting', 'already_broadcasting'], {
    description: 'already_broadcasting: another request started it, and its own options apply',
  }),
});
export type BroadcastStart = Static<typeof BroadcastStartSchema>;

export const BroadcastStopSchema = named('BroadcastStop', 'The broadcast that was stopped', {
  broadcastId,
  egressId: Type.String({ description: 'Form EG_<id>', examples: ['EG_tH8vdkRoTDWY'] }),
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Literal('stopped', { description: 'Always stopped' }),
  stoppedAt: instantSchema('When the broadcast was stopped'),
});
export type BroadcastStop = Static<typeof BroadcastStopSchema>;

export const BroadcastStatusSchema = named(
  'BroadcastStatus',
  'Whether a room is being broadcast, and where to',
  {
    isBroadcasting: Type.Boolean({ description: 'Whether a broadcast is running' }),
    broadcast: orNull(
      BroadcastSchema,
      'The running broadcast, or the one that ran last; null if there was none',
    ),
  },
);
export type BroadcastStatus = Static<typeof BroadcastStatusSchema>;

const EventBroadcastUrlSchema = open('EventBroadcastUrl', 'One receiver of a broadcast', {
  ...urlFields,
  state: Type.String({
    description: 'connecting, active, failed, removed or ended',
    examples: ['active'],
  }),
  error: orNull(Type.String(), 'Why it failed'),
});

/** The broadcast in an event. */
export const EventBroadcastSchema = open('EventBroadcast', 'The broadcast', {
  broadcastId,
  egressId: Type.String({
    description: "LiveKit's id of the recorder's work",
    examples: ['EG_tH8vdkRoTDWY'],
  }),
  status: Type.String({
    description: 'broadcasting, stopped, aborted or failed',
    examples: ['broadcasting'],
  }),
  startedAt: orNull(instantSchema('When it was started'), 'Null if it never began'),
  urls: Type.Array(EventBroadcastUrlSchema, { description: 'Its receivers, as they are now' }),
  failedUrl: Type.Optional(EventBroadcastUrlSchema),
  hls: Type.Optional(Type.Object(hlsFields, { description: 'Where the HLS is; absent without' })),
  durationMs: Type.Optional(Type.Integer({ description: 'Length of the HLS in milliseconds' })),
  sizeBytes: Type.Optional(Type.Integer({ description: 'Size of the HLS in bytes' })),
  error: Type.Optional(Type.String({ description: 'Why the broadcast failed or was aborted' })),
  corrected: Type.Optional(
    Type.Boolean({ description: 'An earlier broadcast_ended reported the broadcast as failed' }),
  ),
});

export type EventBroadcast = Static<typeof EventBroadcastSchema>;

export const BroadcastListSchema = named('BroadcastList', 'A page of broadcasts', {
  broadcasts: Type.Array(BroadcastSchema, { description: 'The broadcasts' }),
  nextCursor,
});
export type BroadcastList = Static<typeof BroadcastListSchema>;

export const BroadcastListQuery = closedQuery({
  roomId: Type.Optional(nameSchema('Only broadcasts of this room', 'demo')),
  ...PAGE,
});
export type BroadcastListQuery = Static<typeof BroadcastListQuery>;

/**
 * Returns why `text` is no URL for a stream; undefined when it is one. It never repeats the text, because a key is in it.
 * Whether its host may be reached is checked when the broadcast starts.
 */
export function streamUrlFault(text: string): string | undefined {
  // A recorder reads what follows a space as an option of its RTMP library.
  if (!/^[\x21-\x7e]*$/.test(text) || /["<>\\^`{|}#]/.test(text))
    return 'must have only characters of a URL: no spaces, controls, quotes, backslashes, braces or #';
  if (!/^(?:rtmps?|srt):\/\//.test(text)) return 'must begin with rtmp://, rtmps:// or srt://';
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const { username, password, hostname, port, pathname } = new URL(text);
  if (hostname === '') return 'must name a host';
  if (username !== '' || password !== '') return 'must not carry user info';
  if (text.startsWith('srt:')) {
    if (port === '') return 'must name a port';
    return pathname === '' || pathname === '/'
      ? undefined
      : 'must have no path: SRT has its streamid in the query';
  }
  return /^\/[^/].*\/[^/]+$/.test(pathname)
    ? undefined
    : 'must be rtmp://host/app/key, with the stream key last';
}

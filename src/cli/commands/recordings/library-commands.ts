import type { RtcClient } from '../../../client/client.ts';
import type { Recording } from '../../../contract/recordings.ts';
import { defineCommand } from '../../framework/command.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { forEachTarget } from '../../framework/for-each-target.ts';
import { pagedList } from '../../framework/lists/paged-list.ts';
import { LIMIT } from '../../framework/lists/read-pages.ts';
import { existing, listOfExisting, notEmpty, oneOf, option } from '../../framework/parameters.ts';
import { formatBytes } from '../../terminal/byte-size.ts';
import { done, nothing } from '../../terminal/result.ts';
import { plural } from '../../terminal/time.ts';
import { isBeingWritten, RECORDING_FIELDS, RECORDING_LIST, recordingRecord } from './recording-view.ts';

const STATUSES = [
  'recording',
  'stopped',
  'aborted',
  'failed',
] as const satisfies readonly Recording['status'][];

export const listRecordings = defineCommand({
  noun: 'recordings',
  verb: 'list',
  aliases: ['ls'],
  summary: 'List recordings, newest first',
  needs: 'service',
  fields: RECORDING_FIELDS,
  arguments: {},
  options: {
    room: option('--room <room>', 'only those of this room', { parse: notEmpty, completes: 'rooms' }),
    status: option('--status <status>', 'only these', oneOf(STATUSES)),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [
    { line: 'rtc recordings list', does: 'The newest 50' },
    { line: 'rtc recordings list --room demo --status failed', does: 'What failed in one room' },
    { line: 'rtc recordings list --json recordingId,sizeBytes', does: 'Two fields, as JSON' },
    { line: 'rtc recordings list --watch', does: 'The same, updated live' },
  ],
  isStream: (input) => input.watch,
  async run(context, { room, status, ...choice }) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choice, {
      name: 'recordings',
      read: (page) => client.recordings.list({ roomId: room, status, ...page, signal }),
      columns: RECORDING_LIST,
      identify: ({ recordingId }) => recordingId,
      empty: 'No recordings. Make one: rtc recordings start ROOM',
    });
  },
});

export const get = defineCommand({
  noun: 'recordings',
  verb: 'get',
  summary: 'Show one recording',
  needs: 'service',
  fields: RECORDING_FIELDS,
  arguments: { id: existing('id of the recording', 'recordings') },
  options: {},
  examples: [
    { line: 'rtc recordings get EG_tH8vdkRoTDWY', does: 'Its state, size, duration and file' },
    { line: 'rtc recordings get EG_tH8vdkRoTDWY --json error', does: 'Only why it failed, as JSON' },
  ],
  async run(context, { id }) {
    const client = await context.client();
    const recording = await client.recordings.get(id, { signal: context.io.signal });
    const next = recording.file === null ? [] : [`Download it: rtc recordings download ${id}`];
    return recordingRecord(recording, {
      notes: isBeingWritten(recording) ? ['Its file is still being written.'] : next,
    });
  },
});

export const remove = defineCommand({
  noun: 'recordings',
  verb: 'delete',
  aliases: ['rm'],
  summary: 'Delete recordings and their files',
  needs: 'service',
  arguments: { ids: listOfExisting('id of the recording, or of several', 'recordings') },
  options: { yes: YES },
  examples: [
    { line: 'rtc recordings delete EG_tH8vdkRoTDWY', does: 'Asks first, and names what is lost' },
    {
      line: 'rtc recordings list --status failed | cut -f1 | xargs rtc recordings delete --yes',
      does: 'All that failed, without asking',
    },
  ],
  async run(context, { ids, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting recordings',
      question: () => describeLoss(context, client, ids),
    });
    const { exitCode, succeeded } = await forEachTarget(context, ids, (id) =>
      client.recordings.delete(id, { signal: context.io.signal }),
    );
    return succeeded.length === 0
      ? nothing({ exitCode })
      : done(`Deleted ${succeeded.join(', ')}.`, { exitCode });
  },
});

async function describeLoss(context: Context, client: RtcClient, ids: readonly string[]): Promise<string> {
  const { signal } = context.io;
  let bytes = 0;
  const rooms = new Set<string>();
  for (const id of ids) {
    const { sizeBytes, roomId } = await client.recordings.get(id, { signal });
    bytes += sizeBytes ?? 0;
    rooms.add(roomId);
  }
  const what = ids.length === 1 ? `recording ${ids[0]}` : plural(ids.length, 'recording');
  const where = rooms.size === 1 ? `room ${[...rooms][0]}` : plural(rooms.size, 'room');
  const loss = bytes === 0 ? 'No file is lost' : `${formatBytes(bytes)} of video will be gone`;
  return `Delete ${what} of ${where}? ${loss}.`;
}

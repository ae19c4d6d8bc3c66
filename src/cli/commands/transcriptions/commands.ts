import type { RtcClient } from '../../../client/client.ts';
import { POST_STATUSES } from '../../../contract/choices.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { forEachTarget } from '../../framework/for-each-target.ts';
import { pagedList } from '../../framework/lists/paged-list.ts';
import { LIMIT } from '../../framework/lists/read-pages.ts';
import { existing, listOfExisting, notEmpty, oneOf, option } from '../../framework/parameters.ts';
import { done, nothing } from '../../terminal/result.ts';
import { plural } from '../../terminal/time.ts';
import { readTranscript } from '../transcription/read-transcript.ts';
import { FORMAT } from '../transcription/transcript-options.ts';
import {
  POST_DETAIL_FIELDS,
  POST_FIELDS,
  POST_LIST,
  postRecord,
  SEGMENT_FIELDS,
  segmentList,
} from '../transcription/transcript-view.ts';
import { create } from './create-command.ts';
import { search } from './search-command.ts';

const listTranscriptions = defineCommand({
  noun: 'transcriptions',
  verb: 'list',
  aliases: ['ls'],
  summary: 'List the transcriptions of recordings, newest first',
  needs: 'service',
  fields: POST_FIELDS,
  arguments: {},
  options: {
    room: option('--room <room>', 'only those of this room', { parse: notEmpty, completes: 'rooms' }),
    recording: option('--recording <id>', 'only those of this recording', { parse: notEmpty }),
    status: option('--status <status>', 'only these', oneOf(POST_STATUSES)),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [
    { line: 'rtc transcriptions list', does: 'The newest 50' },
    { line: 'rtc transcriptions list --status processing --watch', does: 'Watch the progress' },
  ],
  isStream: (input) => input.watch,
  async run(context, { room, recording, status, ...choice }) {
    const client = await context.client();
    const query = { roomId: room, recordingId: recording, status, signal: context.io.signal };
    return pagedList(context, choice, {
      name: 'transcriptions',
      read: (page) => client.transcriptions.list({ ...query, ...page }),
      columns: POST_LIST,
      identify: ({ transcriptionId }) => transcriptionId,
      empty: 'No transcription of a recording is listed. Make one: rtc transcriptions create RECORDING',
    });
  },
});

const get = defineCommand({
  noun: 'transcriptions',
  verb: 'get',
  summary: 'Show one transcription',
  needs: 'service',
  fields: ({ format }) => (format === undefined ? [...POST_DETAIL_FIELDS, ...SEGMENT_FIELDS] : []),
  arguments: { id: existing('id of the transcription', 'transcriptions') },
  options: { format: FORMAT },
  examples: [
    { line: 'rtc transcriptions get tr_4bPp8Vi9S6DdAbCd', does: 'Its state' },
    { line: 'rtc transcriptions get tr_4bPp8Vi9S6DdAbCd --format srt > call.srt', does: 'What was said' },
  ],
  async run(context, { id, format }) {
    if (format !== undefined) return await readTranscript(context, id, format);
    const client = await context.client();
    const transcription = await client.transcriptions.get(id, { signal: context.io.signal });
    // A live transcription has no state without its text.
    if (!('recordingId' in transcription)) {
      return segmentList(transcription, { empty: 'Nothing was said.', notes: [] });
    }
    const isRead = transcription.segments.length > 0;
    return postRecord(transcription, {
      notes: [
        ...(isRead ? [`Read it: rtc transcriptions get ${id} --format text`] : []),
        ...(transcription.warnings ?? []).map(({ detail }) => detail),
      ],
    });
  },
});

const remove = defineCommand({
  noun: 'transcriptions',
  verb: 'delete',
  aliases: ['rm'],
  summary: 'Delete transcriptions with their segments',
  needs: 'service',
  arguments: { ids: listOfExisting('id of the transcription, or of several', 'transcriptions') },
  options: { yes: YES },
  examples: [{ line: 'rtc transcriptions delete tr_4bPp8Vi9S6DdAbCd', does: 'Asks first' }],
  async run(context, { ids, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting transcriptions',
      question: () => describeLoss(context, client, ids),
    });
    const { exitCode, succeeded } = await forEachTarget(context, ids, (id) =>
      client.transcriptions.delete(id, { signal: context.io.signal }),
    );
    return succeeded.length === 0
      ? nothing({ exitCode })
      : done(`Deleted ${succeeded.join(', ')}.`, { exitCode });
  },
});

export const commands: readonly Command[] = [create, listTranscriptions, get, search, remove];

async function describeLoss(context: Context, client: RtcClient, ids: readonly string[]): Promise<string> {
  let segments = 0;
  for (const id of ids) {
    segments += (await client.transcriptions.get(id, { signal: context.io.signal })).segments.length;
  }
  const what = ids.length === 1 ? `transcription ${ids[0]}` : plural(ids.length, 'transcription');
  return `Delete ${what}? ${plural(segments, 'segment')} of text will be deleted.`;
}

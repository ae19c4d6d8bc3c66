import type { AuditEntry } from '../../contract/audit.ts';
import { AUDIT_RESULTS, type AuditResult } from '../../contract/choices.ts';
import { pathWithIds } from '../../contract/path-with-ids.ts';
import { WATCH } from '../framework/common-options.ts';
import { LIMIT, pagedList } from '../framework/lists/read-pages.ts';
import { choice, defineCommand, ofNoun, option } from '../framework/parameters.ts';
import type { Column } from '../terminal/result.ts';
import type { Palette } from '../terminal/terminal.ts';
import { pastMoment } from '../terminal/time.ts';

const FIELDS = [
  'id',
  'occurredAt',
  'keyId',
  'method',
  'path',
  'ids',
  'address',
  'requestId',
  'status',
  'result',
  'problem',
] as const satisfies readonly (keyof AuditEntry)[];

const PAINTS: Readonly<Record<AuditResult, keyof Palette>> = {
  done: 'good',
  refused: 'warning',
  failed: 'bad',
};

const COLUMNS: readonly Column<AuditEntry>[] = [
  { heading: 'TIME', value: ({ occurredAt }) => ({ instantMs: Date.parse(occurredAt) }) },
  { heading: 'KEY', value: ({ keyId }) => keyId },
  {
    heading: 'REQUEST',
    value: ({ method, path, ids }) => `${method} ${pathWithIds(path, ids)}`,
    paint: 'name',
  },
  {
    heading: 'RESULT',
    value: ({ status, problem }) => (problem === null ? `${status}` : `${status} ${problem}`),
    paint: ({ result }) => PAINTS[result],
  },
  { heading: 'FROM', value: ({ address }) => address ?? undefined },
  { heading: 'REQUEST-ID', value: ({ requestId }) => requestId },
];

const listAudit = defineCommand({
  verb: 'list',
  summary: 'List who changed what, newest first',
  description:
    'Lists every signed request that changed something or tried to, refused ones too; requests for tokens are not listed. Needs the root key or the scope admin.',
  fields: FIELDS,
  options: {
    key: option('--key <id>', 'only requests of this API key: key_…, or root', { completes: 'keys' }),
    room: option('--room <room>', 'only requests about this room', { completes: 'rooms' }),
    since: option('--since <when>', 'since then: 10m, 7d, or an instant', pastMoment),
    until: option('--until <when>', 'before then: 10m, 7d, or an instant', pastMoment),
    result: option('--result <result>', 'only requests with this result', choice(AUDIT_RESULTS)),
    request: option('--request <id>', 'only the request with this id, which its response and errors show'),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [
    { line: 'rtc audit list --room demo --since 1h', does: 'Who did what to a room' },
    {
      line: 'rtc audit list --result refused --key key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
      does: 'What a key tried but may not do',
    },
    { line: 'rtc audit list --since 7d --limit 10000 --json', does: 'A week, as JSON' },
  ],
  async run(context, { room, key, since, until, request, result, limit, watch }) {
    const client = await context.client();
    const { signal, clock } = context.io;
    const nowMs = clock();
    const about = { roomId: room, keyId: key, requestId: request, result };
    const query = { ...about, since: since?.(nowMs), until: until?.(nowMs) };
    const choice = { limit, watch };
    return pagedList(context, choice, {
      name: 'entries',
      read: (page) => client.audit.list({ ...query, ...page, signal }),
      columns: COLUMNS,
      isWrapped: true,
      identify: ({ id }) => id,
      empty: 'There is no such entry.',
    });
  },
});

export const commands = ofNoun('audit', [listAudit]);

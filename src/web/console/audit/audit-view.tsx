import { RefreshCw } from 'lucide-react';
import { Link } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import { AUDIT_RESULTS, type AuditResult } from '../../../contract/choices.ts';
import { pathWithIds } from '../../../contract/path-with-ids.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { type Cells, ChoiceFilter, FindAndSave, SearchFilter, useRowsWith } from '../parts/find-and-save.tsx';
import { Details, Panel, Rows } from '../parts/list-view.tsx';
import { RequestLink } from '../parts/problem.tsx';
import { Status, type Tone } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';

const PAGE_SIZE = 100;

const NONE: readonly AuditEntry[] = [];

/** The audit log, newest first: every request that changed something, or tried to. */
export function Audit() {
  const { read: typed, change } = useAddress();
  const filter = useFilter(typed);
  const { items: all, count, error, refetch, loadMore } = useEntries(filter);
  const found = useRowsWith(all ?? NONE, typed('text'));
  const isFiltered = typed('text') !== '' || Object.values(filter).some((value) => value !== undefined);
  const selected = all?.find(({ id }) => id === typed('entry'));
  return (
    <View
      title="Audit"
      note={count}
      command={listCommand(filter)}
      isFilled
      actions={
        <button type="button" onClick={refetch}>
          <RefreshCw aria-hidden /> Read again
        </button>
      }
    >
      <Filters entries={found} />
      <Rows
        label="Audit log"
        columns={COLUMNS}
        rows={all === undefined ? undefined : found}
        error={error}
        onRetry={refetch}
        empty={isFiltered ? NONE_ALIKE : NO_ENTRIES}
        getId={({ id }) => id}
        onEnd={loadMore}
        onSelect={({ id }) => change({ entry: id })}
        selectedId={selected?.id}
        panel={
          selected && (
            <AuditPanel key={selected.id} entry={selected} onClose={() => change({ entry: undefined })} />
          )
        }
      />
    </View>
  );
}

/** The filters. They are in the address of the view, so that other views can link to them. */
function useFilter(typed: (name: string) => string) {
  return {
    roomId: useDebounced(typed('room').trim()) || undefined,
    keyId: useDebounced(typed('key').trim()) || undefined,
    requestId: useDebounced(typed('request').trim()) || undefined,
    result: AUDIT_RESULTS.find((each) => each === typed('result')),
  };
}

function useEntries(filter: Filter) {
  return usePages({
    queryKey: [...KEYS.audit(), JSON.stringify(filter)],
    read: (cursor) => client.audit.list({ ...filter, limit: PAGE_SIZE, cursor }),
    items: ({ entries }) => entries,
  });
}

const CELLS: Cells<AuditEntry> = {
  time: ({ occurredAt }) => occurredAt,
  method: ({ method }) => method,
  path: ({ path, ids }) => pathWithIds(path, ids),
  status: ({ status }) => status,
  problem: ({ problem }) => problem,
  key: ({ keyId }) => keyId,
  from: ({ address }) => address,
  requestId: ({ requestId }) => requestId,
};

function Filters({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <div className="filters">
      <SearchFilter name="room" placeholder="Name of a room" label="Only requests about this room" />
      <SearchFilter name="key" placeholder="API key" label="Only requests of this API key" />
      <SearchFilter name="request" placeholder="Request id" label="Only this request" />
      <ChoiceFilter
        name="result"
        label="Only requests that ended so"
        all="All results"
        choices={AUDIT_RESULTS}
      />
      <FindAndSave what="audit entries" rows={entries} cells={CELLS} />
    </div>
  );
}

const NONE_ALIKE = {
  title: 'No entry is like that',
  text: 'Try other filters. Requests that only read are not kept, nor are those without a valid signature.',
};

const NO_ENTRIES = {
  title: 'Nothing was changed yet',
  text: 'Every signed request that changes something, or was to, appears here.',
};

type Filter = ReturnType<typeof useFilter>;

function listCommand({ roomId, keyId, requestId, result }: Filter): string {
  const options = { '--room': roomId, '--key': keyId, '--request': requestId, '--result': result };
  return writeCommand('audit', 'list', options);
}

const COLUMNS: readonly TableColumn<AuditEntry>[] = [
  {
    heading: 'Request',
    width: 'minmax(8rem, 2.6fr)',
    isWrapped: true,
    cell: (entry) => (
      <CellButton>
        {entry.method} {pathWithIds(entry.path, entry.ids)}
      </CellButton>
    ),
  },
  {
    heading: 'Result',
    width: 'minmax(9.5rem, 1fr)',
    isWrapped: true,
    cell: (entry) => <AuditStatus entry={entry} />,
  },
  {
    heading: 'Time',
    width: 'minmax(5.5rem, 7.5rem)',
    cell: ({ occurredAt }) => <Clock at={occurredAt} />,
  },
  {
    heading: 'Key',
    width: 'minmax(5rem, 1fr)',
    isSecondary: true,
    cell: ({ keyId }) => <code>{keyId}</code>,
  },
  {
    heading: 'From',
    width: 'minmax(7rem, 0.7fr)',
    isSecondary: true,
    cell: ({ address }) => address ?? <span className="faint">—</span>,
  },
];

type Props = { readonly entry: AuditEntry; readonly onClose: () => void };

/** One request: its subject, its sender and its result. */
export function AuditPanel({ entry, onClose }: Props) {
  const { method, path, ids, keyId, address, requestId, occurredAt } = entry;
  return (
    <Panel title={`${method} ${path}`} label={`Request ${method} ${path}`} onClose={onClose}>
      <Details
        rows={{
          Result: <AuditStatus entry={entry} />,
          ...Object.fromEntries(Object.entries(ids).map(describeId)),
          Time: <Clock at={occurredAt} />,
          Key: (
            <Link href={`/audit?key=${encodeURIComponent(keyId)}`}>
              <code>{keyId}</code>
            </Link>
          ),
          From: address ?? 'not known',
          'Request id': <RequestLink id={requestId} />,
        }}
      />
      <div className="actions">
        <WhatHappened kind="request" id={requestId} />
      </div>
      <CommandLine command={writeCommand('explain', requestId)} />
    </Panel>
  );
}

type Subject = { readonly title: string; readonly view: string };

const SUBJECTS: Readonly<Record<string, Subject>> = {
  roomId: { title: 'Room', view: '/rooms/' },
  recordingId: { title: 'Recording', view: '/recordings/' },
  transcriptionId: { title: 'Transcription', view: '/transcriptions/' },
  webhookId: { title: 'Webhook', view: '/webhooks/' },
};

/** An id in the request, with a link if a view shows its object. */
function describeId([name, id]: readonly [name: string, id: string]) {
  const subject = SUBJECTS[name];
  if (subject === undefined) return [name, <code key={name}>{id}</code>] as const;
  const link = <Link href={`${subject.view}${encodeURIComponent(id)}`}>{id}</Link>;
  return [subject.title, link] as const;
}

const TONES: Readonly<Record<AuditResult, Tone>> = { done: 'good', refused: 'warning', failed: 'bad' };

/** The result of a request: `204`, `404 room-not-found`. */
export function AuditStatus({ entry }: { readonly entry: AuditEntry }) {
  const { status, result, problem } = entry;
  return (
    <Status tone={TONES[result]}>
      {status}
      {problem !== null && ` ${problem}`}
    </Status>
  );
}

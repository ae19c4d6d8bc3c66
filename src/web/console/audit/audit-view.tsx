import { RefreshCw, X } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import { AUDIT_RESULTS, type AuditResult } from '../../../contract/choices.ts';
import { pathWithIds } from '../../../contract/path-with-ids.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { type Cells, ChoiceFilter, FindAndSave, SearchFilter, useRowsWith } from '../parts/find-and-save.tsx';
import { Problem, RequestLink } from '../parts/problem.tsx';
import { Status, type Tone } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';

const PAGE_SIZE = 100;

const NONE: readonly AuditEntry[] = [];

/** The audit log, newest first: every request that changed something, or tried to. */
export function Audit() {
  const { read: typed, change } = useAddress();
  const filter = useFilter(typed);
  const { items: all, count, error, refetch, loadMore } = useEntries(filter);
  const found = useRowsWith(all ?? NONE, typed('text'));
  const items = all === undefined ? undefined : found;
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
      {error !== null && <Problem error={error} onRetry={refetch} />}
      {items === undefined && error === null && <Loading />}
      {items?.length === 0 && (
        <NoEntries
          isFiltered={typed('text') !== '' || Object.values(filter).some((value) => value !== undefined)}
        />
      )}
      {items !== undefined && items.length > 0 && (
        <Entries
          entries={items}
          selected={selected}
          onSelect={(entry) => change({ entry: entry?.id })}
          onEnd={loadMore}
        />
      )}
    </View>
  );
}

/** The filters. They are in the address of the view, so that other views can link to them. */
function useFilter(typed: (name: string) => string): Filter {
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

function NoEntries({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No entry is like that' : 'Nothing was changed yet'}>
      <p>
        {isFiltered
          ? 'Try other filters. Requests that only read are not kept, nor are those without a valid signature.'
          : 'Every signed request that changes something, or was to, appears here.'}
      </p>
    </Empty>
  );
}

type EntriesProps = {
  readonly entries: readonly AuditEntry[];
  readonly selected: AuditEntry | undefined;
  readonly onSelect: (entry: AuditEntry | undefined) => void;
  readonly onEnd: (() => void) | undefined;
};

function Entries({ entries, selected, onSelect, onEnd }: EntriesProps) {
  const columns = useMemo(() => createColumns(onSelect), [onSelect]);
  return (
    <div className={selected === undefined ? 'split' : 'split split-open'}>
      <DataTable
        label="Audit log"
        columns={columns}
        rows={entries}
        getId={({ id }) => id}
        onEnd={onEnd}
        onSelect={onSelect}
        selectedId={selected?.id}
      />
      {selected !== undefined && (
        <AuditPanel key={selected.id} entry={selected} onClose={() => onSelect(undefined)} />
      )}
    </div>
  );
}

type Filter = {
  readonly roomId: string | undefined;
  readonly keyId: string | undefined;
  readonly requestId: string | undefined;
  readonly result: AuditResult | undefined;
};

function listCommand({ roomId, keyId, requestId, result }: Filter): string {
  const options = { '--room': roomId, '--key': keyId, '--request': requestId, '--result': result };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return writeCommand('audit', 'list', ...words);
}

function createColumns(onSelect: (entry: AuditEntry) => void): readonly TableColumn<AuditEntry>[] {
  return [
    {
      heading: 'Request',
      width: 'minmax(8rem, 2.6fr)',
      isWrapped: true,
      cell: (entry) => (
        <button type="button" className="cell-link" onClick={() => onSelect(entry)}>
          {entry.method} {pathWithIds(entry.path, entry.ids)}
        </button>
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
}

type Props = { readonly entry: AuditEntry; readonly onClose: () => void };

/** One request: its subject, its sender and its result. */
export function AuditPanel({ entry, onClose }: Props) {
  const { method, path, ids, keyId, address, requestId, occurredAt } = entry;
  return (
    <aside className="panel" aria-label={`Request ${method} ${path}`}>
      <header className="panel-head">
        <h2>
          {method} {path}
        </h2>
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </button>
      </header>
      <dl className="details">
        <dt>Result</dt>
        <dd>
          <AuditStatus entry={entry} />
        </dd>
        {Object.entries(ids).map(([name, id]) => (
          <Detail key={name} name={name} id={id} />
        ))}
        <dt>Time</dt>
        <dd>
          <Clock at={occurredAt} />
        </dd>
        <dt>Key</dt>
        <dd>
          <Link href={`/audit?key=${encodeURIComponent(keyId)}`}>
            <code>{keyId}</code>
          </Link>
        </dd>
        <dt>From</dt>
        <dd>{address ?? 'not known'}</dd>
        <dt>Request id</dt>
        <dd>
          <RequestLink id={requestId} />
        </dd>
      </dl>
      <div className="actions">
        <WhatHappened kind="request" id={requestId} />
      </div>
      <CommandLine command={writeCommand('explain', requestId)} />
    </aside>
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
function Detail({ name, id }: { readonly name: string; readonly id: string }) {
  const subject = SUBJECTS[name];
  return (
    <>
      <dt>{subject?.title ?? name}</dt>
      <dd>
        {subject === undefined ? (
          <code>{id}</code>
        ) : (
          <Link href={`${subject.view}${encodeURIComponent(id)}`}>{id}</Link>
        )}
      </dd>
    </>
  );
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

import { X } from 'lucide-react';
import { Link } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import { CommandLine, commandOf } from '../parts/command-line.tsx';
import { RequestLink } from '../parts/request-link.tsx';
import { Clock } from '../parts/time.tsx';
import { AuditStatus } from './audit-status.tsx';

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
      <CommandLine command={commandOf('explain', requestId)} />
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

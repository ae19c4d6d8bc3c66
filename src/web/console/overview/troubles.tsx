import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { WebhookStats } from '../../../contract/deliveries.ts';
import type { Recording } from '../../../contract/recordings.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import type { SubjectKind } from '../../../explain/explanation.ts';
import { explainSubject } from '../../../explain/subjects.ts';
import { client } from '../api/client.ts';
import type { Check } from '../api/console-calls.ts';
import { KEYS } from '../api/query-keys.ts';
import { Problem, sentence } from '../parts/problem.tsx';
import { CHECK_TONES, Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { WebhookHealth } from '../webhooks/webhook-health.tsx';

/* Troubles, the processes that work for the service, and the last errors. */

export type Counted = { readonly webhook: Webhook; readonly stats: WebhookStats };

export type TroubleFacts = {
  readonly stats: readonly Counted[];
  readonly failedRecordings: readonly Recording[];
  readonly checks: readonly Check[] | undefined;
};

/** Troubles of one kind that are shown: each is explained by requests of its own. */
const MOST_EXPLAINED = 3;

/** Receivers that refuse, recordings without a file, and faults of the set-up, each with its reason and the next step. */
export function WrongNow({ stats, failedRecordings, checks }: TroubleFacts) {
  const receivers = stats.filter(
    ({ webhook, stats: { health } }) =>
      webhook.pausedAt !== null || health === 'failing' || health === 'unsteady',
  );
  const faults = (checks ?? []).filter(({ status }) => status === 'fault');
  const isAllWell = receivers.length + failedRecordings.length + faults.length === 0;
  const more = Math.max(0, failedRecordings.length - MOST_EXPLAINED);
  return (
    <section className="card" aria-labelledby="wrong-title">
      <h2 id="wrong-title">What is wrong now</h2>
      {isAllWell ? (
        <Status tone={checks === undefined ? 'neutral' : 'good'}>
          {checks === undefined ? 'Checking the set-up…' : 'Nothing that the service knows of'}
        </Status>
      ) : (
        <ul className="wrong">
          {faults.map(({ check, detail, next }) => (
            <Wrong key={check} mark={<Status tone="bad">{check}</Status>} href="/doctor">
              {sentence(detail)}
              {next !== '' && <Next text={next} />}
            </Wrong>
          ))}
          {receivers.map(({ webhook, stats: { health, retrying, failed } }) => (
            <Wrong
              key={webhook.id}
              mark={<WebhookHealth health={health} pausedAt={webhook.pausedAt} />}
              href={`/webhooks/${webhook.id}`}
            >
              <b>{webhook.url}</b>: {failed.toLocaleString()} failed, {retrying.toLocaleString()} retried
              {webhook.pausedAt === null && <WhyRefused webhook={webhook} hasFailed={failed > 0} />}
            </Wrong>
          ))}
          {failedRecordings.slice(0, MOST_EXPLAINED).map((recording) => (
            <WrongRecording key={recording.recordingId} recording={recording} />
          ))}
        </ul>
      )}
      {more > 0 && (
        <p>
          <Link href="/recordings?status=failed">{more.toLocaleString()} more recordings</Link>
        </p>
      )}
    </section>
  );
}

function WrongRecording({ recording }: { readonly recording: Recording }) {
  const { recordingId, roomId, status, endedAt } = recording;
  return (
    <Wrong
      mark={<Status tone="bad">Recording {status}</Status>}
      href={`/explain/recording/${encodeURIComponent(recordingId)}`}
    >
      <b>{roomId}</b>, <Ago at={endedAt} />
      <Why kind="recording" id={recordingId} />
    </Wrong>
  );
}

type WrongProps = { readonly mark: ReactNode; readonly href: string; readonly children: ReactNode };

function Wrong({ mark, href, children }: WrongProps) {
  return (
    <li>
      {mark}
      <div>{children}</div>
      <Link className="button" href={href}>
        Why?
      </Link>
    </li>
  );
}

type RefusedProps = { readonly webhook: Webhook; readonly hasFailed: boolean };

/** Says why the newest delivery was not accepted. */
function WhyRefused({ webhook: { id }, hasFailed }: RefusedProps) {
  const status = hasFailed ? 'failed' : 'pending';
  const { data } = useQuery({
    queryKey: [...KEYS.deliveries(), id, 'newest', status],
    queryFn: () => client.deliveries.list(id, { status, limit: 1 }),
  });
  const [newest] = data?.deliveries ?? [];
  return newest === undefined ? null : <Why kind="delivery" id={newest.id} />;
}

type WhyProps = { readonly kind: SubjectKind; readonly id: string };

/** The most serious trouble of the explanation, and the first step. The lines are kept free while it is read. */
function Why({ kind, id }: WhyProps) {
  const { data } = useQuery({
    queryKey: [...KEYS.explanations(), kind, id],
    queryFn: ({ signal }) => explainSubject({ client, signal }, { kind, id }, Date.now()),
  });
  if (data === undefined) return <p className="faint">Reading why…</p>;
  if (!('headline' in data)) return null;
  const [trouble] = data.troubles;
  const [next] = data.next;
  return (
    <>
      {trouble !== undefined && <p className="faint">{sentence(trouble)}</p>}
      {next !== undefined && <Next text={next.text} />}
    </>
  );
}

function Next({ text }: { readonly text: string }) {
  return <p>Next: {sentence(text)}</p>;
}

/** The checks that tell of a worker, the better one first. */
const WORKERS: readonly (readonly [name: string, href: string, checks: readonly string[]])[] = [
  ['Recorder', '/recordings', ['recorder', 'recording']],
  ['Ingress', '/ingress', ['ingress worker', 'ingress']],
  ['Speech', '/transcriptions/live', ['add-ons']],
];

/** Shows what the recorder, ingress and speech workers can do, and what they do now. */
export function Workers({ checks }: { readonly checks: readonly Check[] | undefined }) {
  // Without Redis the list of ingresses fails, which the check has found out.
  const running = useRunning({ hasIngress: isWorking(checks, 'ingress') });
  return (
    <section className="card" aria-labelledby="workers-title">
      <h2 id="workers-title">
        <Link href="/doctor">Workers</Link>
      </h2>
      <dl className="workers">
        {WORKERS.map(([name, href, names]) => {
          const check = names.map((each) => checks?.find((found) => found.check === each)).find(Boolean);
          return (
            <div key={name}>
              <dt>
                <Link href={href}>{name}</Link>
              </dt>
              <dd>
                <span title={check?.detail}>
                  <Status tone={check === undefined ? 'neutral' : CHECK_TONES[check.status]}>
                    {check === undefined ? 'Checking…' : running[name]}
                  </Status>
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** A page of a list: a count of more is not exact. */
const COUNTED = 200;

function isWorking(checks: readonly Check[] | undefined, name: string): boolean {
  return checks?.some(({ check, status }) => check === name && status === 'ok') === true;
}

type Working = { readonly hasIngress: boolean };

function useRunning({ hasIngress }: Working): Readonly<Record<string, string>> {
  const recordings = useQuery({
    queryKey: [...KEYS.recordings(), 'running', 'count'],
    queryFn: () => client.recordings.list({ status: 'recording', limit: COUNTED }),
  });
  const live = useQuery({
    queryKey: [...KEYS.transcriptions(), 'live', 'active', 'count'],
    queryFn: () => client.transcription.list({ status: 'active', limit: COUNTED }),
  });
  const streams = useQuery({
    queryKey: [...KEYS.ingress(''), 'count'],
    queryFn: () => client.ingress.listEverywhere({ limit: COUNTED }),
    enabled: hasIngress,
  });
  return {
    Recorder: write(recordings.data?.recordings.length, ['recording runs', 'recordings run']),
    Ingress: write(streams.data?.ingress.length, ['ingress exists', 'ingresses exist']),
    Speech: write(live.data?.transcriptions.length, ['live transcription runs', 'live transcriptions run']),
  };
}

function write(count: number | undefined, [one, many]: readonly [one: string, many: string]): string {
  if (count === undefined) return 'Not known';
  if (count === 0) return `No ${one}`;
  if (count === 1) return `1 ${one}`;
  return `${count}${count === COUNTED ? ' or more' : ''} ${many}`;
}

const SHOWN_ERRORS = 5;

/** The newest requests that were refused or failed. */
export function LastErrors() {
  const { data, error } = useQuery({
    queryKey: [...KEYS.audit(), 'errors'],
    queryFn: async () => {
      const results = ['refused', 'failed'] as const;
      const lists = await Promise.all(
        results.map((result) => client.audit.list({ result, limit: SHOWN_ERRORS })),
      );
      return lists
        .flatMap(({ entries }) => entries)
        .toSorted((one, other) => other.occurredAt.localeCompare(one.occurredAt))
        .slice(0, SHOWN_ERRORS);
    },
  });
  return (
    <section className="card" aria-labelledby="errors-title">
      <h2 id="errors-title">
        <Link href="/audit">Last errors</Link>
      </h2>
      {error !== null && <Problem error={error} />}
      {data?.length === 0 && <p className="faint">No request was refused or failed.</p>}
      <ul className="errors">
        {data?.map(({ id, method, path, status, problem, requestId, occurredAt }) => (
          <li key={id}>
            <Status tone={status < 500 ? 'warning' : 'bad'}>{status}</Status>
            <span>
              <Link href={`/explain/request/${encodeURIComponent(requestId)}`}>{problem ?? 'no reason'}</Link>
              <span className="faint">
                {' '}
                {method} {path}
              </span>
            </span>
            <Ago at={occurredAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}

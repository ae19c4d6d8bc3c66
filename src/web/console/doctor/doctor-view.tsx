import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { CHECKS, type Check, runChecks } from '../api/console-calls.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { Problem } from '../parts/problem.tsx';
import { CHECK_TONES, Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { Loading, View } from '../parts/view.tsx';

/** The checks from the settings to the bucket, and what to do about each fault. */
export function Doctor() {
  const checked = useQuery(CHECKS);
  // Separate from the query, which is read again after every change and would lose the results of the probe.
  const [probed, setProbed] = useState<{ readonly data: readonly Check[]; readonly dataUpdatedAt: number }>();
  const { data, dataUpdatedAt } = probed ?? checked;
  const { error, isFetching } = checked;
  const runAgain = (): void => {
    setProbed(undefined);
    void checked.refetch();
  };
  const faults = data?.filter(({ status }) => status === 'fault').length ?? 0;
  const actions = (
    <>
      <button type="button" className="primary" disabled={isFetching} onClick={runAgain}>
        <RefreshCw aria-hidden /> {isFetching ? 'Checking…' : 'Run again'}
      </button>
      <ProbeButton onProbed={(data) => setProbed({ data, dataUpdatedAt: Date.now() })} />
    </>
  );
  return (
    <View title="Doctor" note={describeFaults(data, faults)} command="rtc doctor" actions={actions}>
      {error !== null && <Problem error={error} onRetry={runAgain} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <ol className="checks" aria-busy={isFetching}>
          {data.map((check) => (
            <CheckItem key={check.check} check={check} />
          ))}
        </ol>
      )}
      {data !== undefined && (
        <p className="faint">
          Checked <Ago at={dataUpdatedAt} />.
        </p>
      )}
    </View>
  );
}

type ProbeProps = { readonly onProbed: (checks: readonly Check[]) => void };

function ProbeButton({ onProbed }: ProbeProps) {
  return (
    <ChangeButton
      question="Try webhooks, ingress and recording too?"
      consequence="It makes rooms of its own for that, and takes up to 35 s."
      verb="Try them"
      command="rtc doctor --probe"
      run={async () => {
        onProbed(await runChecks('probe'));
      }}
    >
      Try webhooks and recording
    </ChangeButton>
  );
}

function CheckItem({ check: { check: name, status, detail, next } }: { readonly check: Check }) {
  return (
    <li>
      <Status tone={CHECK_TONES[status]}>{status}</Status>
      <div>
        <h2>{name}</h2>
        <p>{detail}</p>
        {next !== '' && <p className="check-next">Next: {next}</p>}
      </div>
    </li>
  );
}

function describeFaults(checks: readonly Check[] | undefined, faults: number): string | undefined {
  if (checks === undefined) return undefined;
  if (faults === 0) return 'No fault found';
  return faults === 1 ? '1 fault' : `${faults} faults`;
}

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { WebhookStats } from '../../../contract/deliveries.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { findBegin } from '../parts/period.tsx';
import { Status, type Tone } from '../parts/status.tsx';

/** An attempt causes no event. */
const ATTEMPTS_MS = 10_000;

/** The figures of a webhook over a period, which all views share. */
export function statsQuery(webhookId: string, periodMs: number) {
  return queryOptions({
    queryKey: [...KEYS.deliveries(), webhookId, 'stats', periodMs],
    queryFn: () => client.webhooks.stats(webhookId, { since: findBegin(periodMs) }),
    placeholderData: keepPreviousData,
    refetchInterval: ATTEMPTS_MS,
  });
}

const TONES: Readonly<Record<WebhookStats['health'], Tone>> = {
  unused: 'neutral',
  working: 'good',
  unsteady: 'warning',
  failing: 'bad',
};

const WORDS: Readonly<Record<WebhookStats['health'], string>> = {
  unused: 'No delivery yet',
  working: 'Working',
  unsteady: 'Unsteady',
  failing: 'Failing',
};

type HealthProps = Pick<WebhookStats, 'health'> & Pick<Webhook, 'pausedAt'>;

/** Whether it is paused; else whether the receiver accepts what is sent now, by the newest attempts. */
export function WebhookHealth({ health, pausedAt }: HealthProps) {
  if (pausedAt !== null) return <Status tone="neutral">Paused</Status>;
  return <Status tone={TONES[health]}>{WORDS[health]}</Status>;
}

/** The periods of several webhooks, added up. All have the same period. */
export function sumPeriods(stats: readonly WebhookStats[]): WebhookStats['periods'] {
  const [first, ...others] = stats;
  return (first?.periods ?? []).map((period, index) => {
    const same = others.flatMap(({ periods }) => periods[index] ?? []);
    const add = (name: 'delivered' | 'failed' | 'pending') =>
      same.reduce((sum, each) => sum + each[name], period[name]);
    return { ...period, delivered: add('delivered'), failed: add('failed'), pending: add('pending') };
  });
}

/** Deliveries by the time of their event and by their outcome. Failed ones are at the foot, where the smallest is seen. */
export function DeliveryBars({ periods }: Pick<WebhookStats, 'periods'>) {
  const bars = periods.map(
    ({ startedAt, delivered, failed, pending }): Bar => ({
      startedAt,
      parts: [
        { tone: 'bad', name: 'failed', value: failed },
        { tone: 'warning', name: 'waiting', value: pending },
        { tone: 'good', name: 'delivered', value: delivered },
      ],
    }),
  );
  return <Bars label="Deliveries" bars={bars} />;
}

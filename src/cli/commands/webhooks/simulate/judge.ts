import type { PostOutcome } from '../../events/post-event.ts';
import type { PlannedDelivery } from './plan.ts';

export type Sent = PlannedDelivery & { readonly outcome: PostOutcome };

export type Check = {
  readonly check: 'accepted' | 'refused-forged' | 'refused-old' | 'handled-once' | 'in-order';
  /** Null when nothing could show it. */
  readonly passed: boolean | null;
  readonly detail: string;
};

/** @param handled ids in the order in which the receiver reports that it handled them; undefined without a report */
export function judge(sent: readonly Sent[], handled: readonly string[] | undefined): readonly Check[] {
  const genuine = sent.filter(({ kind }) => kind === 'genuine');
  return [
    verdict('accepted', genuine, { isGood: isAccepted, words: 'genuine deliveries got a 2xx' }),
    verdict('refused-forged', ofKind(sent, 'forged'), {
      isGood: isRefused,
      words: 'with a forged signature got a 4xx',
    }),
    verdict('refused-old', ofKind(sent, 'old'), {
      isGood: isRefused,
      words: 'with a webhook-timestamp of ten minutes ago got a 4xx',
    }),
    ...judgeHandling(genuine, handled),
  ];
}

function ofKind(sent: readonly Sent[], kind: Sent['kind']): readonly Sent[] {
  return sent.filter((one) => one.kind === kind);
}

function isAccepted({ outcome }: Sent): boolean {
  return outcome.kind === 'responded' && outcome.statusCode >= 200 && outcome.statusCode < 300;
}

function isRefused({ outcome }: Sent): boolean {
  return outcome.kind === 'responded' && outcome.statusCode >= 400 && outcome.statusCode < 500;
}

type Rule = { readonly isGood: (sent: Sent) => boolean; readonly words: string };

function verdict(check: Check['check'], sent: readonly Sent[], { isGood, words }: Rule): Check {
  if (sent.length === 0) return { check, passed: null, detail: 'none were sent' };
  const bad = sent.filter((one) => !isGood(one));
  const [first] = bad;
  const example = first === undefined ? '' : `; ${first.event.id} got ${describeOutcome(first)}`;
  return {
    check,
    passed: first === undefined,
    detail: `${sent.length - bad.length} of ${sent.length} ${words}${example}`,
  };
}

function describeOutcome({ outcome }: Sent): string {
  return outcome.kind === 'responded' ? String(outcome.statusCode) : `no response: ${outcome.reason}`;
}

function judgeHandling(genuine: readonly Sent[], handled: readonly string[] | undefined): readonly Check[] {
  if (handled === undefined) {
    const detail = 'not known: the scenario names no address under `handled`';
    return [
      { check: 'handled-once', passed: null, detail },
      { check: 'in-order', passed: null, detail },
    ];
  }
  const sequences = new Map(genuine.map(({ event }) => [event.id, event.sequence ?? 0]));
  return [judgeOnce(sequences, handled), judgeOrder(sequences, handled)];
}

type Sequences = ReadonlyMap<string, number>;

function judgeOnce(sequences: Sequences, handled: readonly string[]): Check {
  const seen = new Set(handled);
  const faults = [
    [handled.length - seen.size, 'handled again'],
    [[...sequences.keys()].filter((id) => !seen.has(id)).length, 'not handled'],
    [[...seen].filter((id) => !sequences.has(id)).length, 'handled though they must not be'],
  ] as const;
  const found = faults.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  const detail = found.length === 0 ? `each of ${sequences.size} events once` : found.join(', ');
  return { check: 'handled-once', passed: found.length === 0, detail };
}

/** Checks that events were handled in order of their sequence, each by the first time. */
function judgeOrder(sequences: Sequences, handled: readonly string[]): Check {
  const order = [...new Set(handled)].flatMap((id) => sequences.get(id) ?? []);
  const at = order.findIndex((sequence, index) => sequence < (order[index - 1] ?? 0));
  const detail =
    at === -1
      ? `${order.length} events by their sequence`
      : `sequence ${order[at]} was handled after ${order[at - 1]}`;
  return { check: 'in-order', passed: at === -1, detail };
}

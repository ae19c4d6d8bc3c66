import { randomUUID } from 'node:crypto';
import manifest from '../../../../../package.json' with { type: 'json' };
import { pause } from '../../../../client/transport/retry.ts';
import { CliError, EXIT } from '../../../errors/cli-error.ts';
import { defineCommand } from '../../../framework/command.ts';
import type { Context } from '../../../framework/context.ts';
import { argument, option } from '../../../framework/parameters.ts';
import { type Column, list } from '../../../terminal/result.ts';
import { readSourceText } from '../../../terminal/source-text.ts';
import { printHint } from '../../../terminal/terminal.ts';
import { plural } from '../../../terminal/time.ts';
import { readSigner, receiverUrl, SECRET_VARIABLE, secretOfEnvironment } from '../../events/forward.ts';
import { generateSecret } from '../webhook-secret.ts';
import { type Check, judge, type Sent } from './judge.ts';
import { planDeliveries, type Step } from './plan.ts';
import { readScenario, type Scenario } from './scenario.ts';

/** Twice the age that receivers accept. */
const OLD_MS = 600_000;
/** Time for a receiver that responds first and handles later. */
const HANDLED_TIMEOUT_MS = 5000;
const POLL_INTERVAL_MS = 100;

const COLUMNS: readonly Column<Check>[] = [
  { heading: 'CHECK', value: ({ check }) => check, paint: 'name' },
  {
    heading: 'PASSED',
    value: ({ passed }) => (passed === null ? 'unknown' : passed),
    paint: ({ passed }) => (passed === null ? 'faint' : passed ? 'good' : 'bad'),
    display: ({ passed }) => (passed === null ? 'not checked' : passed ? 'yes' : 'no'),
  },
  { heading: 'DETAIL', value: ({ detail }) => detail },
];

export const simulate = defineCommand({
  noun: 'webhooks',
  verb: 'simulate',
  summary: 'Test a receiver with a scenario of deliveries',
  description: `Sends the events of a class that comes and goes. Some deliveries are duplicated, reordered, late, old or forged. The scenario is a YAML file with to, handled, room, people (30), seconds (10), duplicates (6), reordered (6), late (3), old (3) and forged (3). "handled" is an address at which the receiver returns the ids of the events that it has handled, as a JSON list in their order. Without it, two checks are unknown: whether events are handled once, and in order. Deliveries are signed with $${SECRET_VARIABLE}, or with the secret of rtc webhooks listen. The exit code is 7 if a check fails.`,
  needs: 'service',
  fields: ['check', 'passed', 'detail'] satisfies (keyof Check)[],
  arguments: { scenario: argument('scenario file; - for stdin', { completes: 'files' }) },
  options: {
    to: option('--to <url>', 'receiver; overrides the one in the scenario', { parse: receiverUrl }),
  },
  examples: [
    { line: 'rtc webhooks simulate class.yaml', does: 'With to: http://localhost:4000/hook in the file' },
    { line: 'echo people: 5 | rtc webhooks simulate - --to 4000', does: 'A small class' },
  ],
  async run(context, { scenario: source, to }) {
    const text = await readSourceText(context.io, source === '-' ? source : `@${source}`);
    const scenario = readScenario(text, to);
    const secret = secretOfEnvironment(context) ?? (await readSigner(context)).secret;
    const nextId = (): string => randomUUID().replaceAll('-', '');
    const steps = planDeliveries(scenario, { nowMs: context.io.clock(), nextId });
    const count = steps.reduce((sum, step) => sum + step.length, 0);
    printHint(
      context.terminal,
      `Sending ${plural(count, 'delivery', 'deliveries')} to ${scenario.to.href} …`,
    );
    const sent = await sendAll(context, { scenario, steps, secret });
    const checks = judge(sent, await readHandled(context, scenario, sent));
    const isGood = checks.every(({ passed }) => passed !== false);
    return list({
      response: { passed: isGood, checks },
      records: checks,
      columns: COLUMNS,
      identify: ({ check }) => check,
      empty: '',
      isWrapped: true,
      exitCode: isGood ? EXIT.success : EXIT.negative,
    });
  },
});

type Sending = { readonly scenario: Scenario; readonly steps: readonly Step[]; readonly secret: string };

/** Sends step by step over the time of the scenario. Each step waits for the responses to the previous one. */
async function sendAll({ io }: Context, { scenario, steps, secret }: Sending): Promise<readonly Sent[]> {
  const { createEventPoster } = await import('../../events/post-event.ts');
  const poster = createEventPoster(`rtc/${manifest.version}`);
  const another = generateSecret();
  const startedAt = io.clock();
  const sent: Sent[] = [];
  try {
    for (const [index, step] of steps.entries()) {
      const dueMs = startedAt + (index * scenario.seconds * 1000) / steps.length - io.clock();
      if (dueMs > 0) await pause(dueMs, io.signal);
      const outcomes = step.map(async (delivery): Promise<Sent> => {
        const outcome = await poster.post(
          {
            url: scenario.to,
            event: delivery.event,
            secret: delivery.kind === 'forged' ? another : secret,
            nowMs: io.clock() - (delivery.kind === 'old' ? OLD_MS : 0),
          },
          io.signal,
        );
        return { ...delivery, outcome };
      });
      sent.push(...(await Promise.all(outcomes)));
    }
    return sent;
  } finally {
    await poster.close();
  }
}

/** Returns what the receiver reports as handled, once that is everything or its time is over. */
async function readHandled(
  { io }: Context,
  { handled: url }: Scenario,
  sent: readonly Sent[],
): Promise<readonly string[] | undefined> {
  if (url === undefined) return undefined;
  const genuine = new Set(sent.flatMap(({ kind, event }) => (kind === 'genuine' ? [event.id] : [])));
  const deadline = io.clock() + HANDLED_TIMEOUT_MS;
  for (;;) {
    const ids = await fetchIds(url, io.signal);
    const missing = genuine.difference(new Set(ids));
    if (missing.size === 0 || io.clock() >= deadline) return ids;
    await pause(POLL_INTERVAL_MS, io.signal);
  }
}

async function fetchIds(url: URL, signal: AbortSignal): Promise<readonly string[]> {
  const limits = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  try {
    const value: unknown = await (await fetch(url, { signal: limits })).json();
    if (Array.isArray(value) && value.every((id) => typeof id === 'string')) return value;
  } catch (cause) {
    if (signal.aborted) throw cause;
  }
  throw new CliError(
    EXIT.failure,
    `${url.href} does not return a JSON list of the ids of handled events`,
    'correct the address under "handled" of the scenario, or leave it out',
  );
}

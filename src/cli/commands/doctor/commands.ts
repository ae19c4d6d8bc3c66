import { EXIT, usageError } from '../../errors/cli-error.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import { flag } from '../../framework/parameters.ts';
import { type Column, type ListResult, list } from '../../terminal/result.ts';
import { checkService } from './check-service.ts';
import { type Check, checkAddress, checkSettings } from './checks.ts';
import { fixWhatIsMissing } from './fix.ts';
import { printRequests } from './print-requests.ts';

const COLUMNS: readonly Column<Check>[] = [
  {
    heading: 'STATUS',
    value: (check) => check.status,
    display: (check) => LABELS[check.status],
    paint: (check) => PAINTS[check.status],
  },
  { heading: 'CHECK', value: (check) => check.check },
  { heading: 'DETAIL', value: (check) => check.detail },
  { heading: 'NEXT', value: (check) => check.next },
];

const LABELS = {
  ok: '✓ ok',
  note: '· note',
  fault: '✗ fault',
  warning: '! warning',
  skipped: '- skipped',
} as const;
const PAINTS = { ok: 'good', note: 'faint', fault: 'bad', warning: 'warning', skipped: 'faint' } as const;

const doctor = defineCommand({
  noun: 'doctor',
  verb: '',
  summary: 'Check the whole chain, and say what to do about each fault',
  description:
    'Settings, address, clock, signature, media server, database, bucket, ingress, recording. Exit code 7 when a fault is found.',
  needs: 'service',
  fields: ['check', 'status', 'detail', 'next'] satisfies (keyof Check)[],
  arguments: {},
  options: {
    probe: flag(
      '--probe',
      'also try the media server’s webhooks, an ingress and a recording, in rooms made for it (up to 35 s)',
    ),
    fix: flag(
      '--fix',
      'make folders, write egress.yaml and ingress.yaml, and start those workers by Docker; on the machine of the service, with its settings',
    ),
    watch: WATCH,
  },
  isStream: ({ watch }) => watch,
  examples: [
    { line: 'rtc doctor', does: 'Whether everything is as it should be' },
    { line: 'rtc doctor --profile prod --probe', does: 'Webhooks and recording included' },
    { line: 'rtc doctor --fix', does: 'Sets up what is missing on this machine, then checks again' },
    { line: 'rtc doctor --watch', does: 'Until everything is as it should be' },
    { line: 'rtc doctor --json check,status', does: 'For a monitor' },
  ],
  async run(context, { probe, fix, watch }) {
    if (context.flags.isCurl) return printRequests(context);
    if (watch && probe) throw usageError('--probe makes rooms and recordings', 'leave it out with --watch');
    const check = (): Promise<readonly Check[]> => checkAll(context, { withProbe: probe });
    if (fix) await fixWhatIsMissing(context, await check());
    const read = async (): Promise<ListResult> => listOf(context, await check());
    return watch ? await watchList(context, read) : await read();
  },
});

async function checkAll(
  context: Context,
  options: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const { url, credentials, checks } = await checkSettings(context);
  const address = await checkAddress(context, url);
  const service =
    credentials === undefined || !address.isService
      ? []
      : await checkService(context, { url, ...credentials }, options);
  return [...checks, ...address.checks, ...service];
}

function listOf(context: Context, checks: readonly Check[]): ListResult {
  const hasFault = checks.some((check) => check.status === 'fault');
  const isTerminal = context.terminal.isTerminal && context.terminal.json === undefined;
  return list({
    response: checks,
    records: checks,
    // On a terminal the next steps follow the table, where they are not cut.
    columns: isTerminal ? COLUMNS.slice(0, 3) : COLUMNS,
    identify: (check) => check.check,
    empty: '',
    isWrapped: true,
    exitCode: hasFault ? EXIT.negative : EXIT.success,
    notes: [hasFault ? 'What to do next:' : 'No fault found.', ...checks.flatMap(nextOf)],
  });
}

function nextOf({ check, status, next }: Check): readonly string[] {
  return next === '' ? [] : [`  ${LABELS[status].slice(0, 1)} ${check}: ${next}`];
}

export const commands: readonly Command[] = [doctor];

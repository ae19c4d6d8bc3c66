import type { RtcClient } from '../../../client/client.ts';
import { CurlPrinted } from '../../connection/request-trace.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import { startError } from '../../errors/start-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import { defineCommand, flag, ofNoun } from '../../framework/parameters.ts';
import type { MediaWorkerKind, Repair } from '../../terminal/io.ts';
import { type Column, type ListResult, list, nothing, type Result } from '../../terminal/result.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { checkService, NO_ROOM } from './check-service.ts';
import { type Check, checkAddress, checkSettings } from './checks.ts';

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
  summary: 'Check the whole set-up, and say how to mend each fault',
  description:
    'Checks settings, address, clock, signature, media server, database, bucket, ingress and recording. The exit code is 7 if there is a fault.',
  fields: ['check', 'status', 'detail', 'next'] satisfies (keyof Check)[],
  options: {
    probe: flag(
      '--probe',
      'also try the media server’s webhooks, an ingress and a recording, in temporary rooms (up to 35 s)',
    ),
    fix: flag(
      '--fix',
      'make folders, write egress.yaml and ingress.yaml, and start those workers by Docker; on the machine of the service, with its settings',
    ),
    watch: WATCH,
  },
  examples: [
    { line: 'rtc doctor', does: 'Check the set-up' },
    { line: 'rtc doctor --profile prod --probe', does: 'Also try webhooks and a recording' },
    { line: 'rtc doctor --fix', does: 'Set up what is missing on this machine, then check again' },
    { line: 'rtc doctor --watch', does: 'Check every two seconds, until Ctrl-C' },
    { line: 'rtc doctor --json check,status', does: 'For a monitor' },
  ],
  async run(context, { probe, fix, watch }) {
    if (context.flags.isCurl) return printRequests(context);
    if (watch && probe) throw usageError('--probe makes rooms and recordings', 'leave it out with --watch');
    const check = (): Promise<readonly Check[]> => checkAll(context, { withProbe: probe });
    if (fix) await fixWhatIsMissing(context, await check());
    const read = async (): Promise<ListResult> => listChecks(context, await check());
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
  return [...checkNode(context), ...checks, ...address.checks, ...service];
}

/** The launcher names the Node in which it was called, where that one is too old to run a command. */
function checkNode({ io }: Context): readonly Check[] {
  const older = io.env.RTC_RELAUNCHED;
  if (older === undefined) return [];
  const detail = `Node ${older} runs rtc, and has to start Node ${io.runtime.node} for each command`;
  return [{ check: 'node', status: 'note', detail, next: 'for faster commands, put Node 24 first in PATH' }];
}

function listChecks(context: Context, checks: readonly Check[]): ListResult {
  const hasFault = checks.some((check) => check.status === 'fault');
  const isTerminal = context.terminal.isTerminal && context.terminal.json === undefined;
  return list({
    response: checks,
    records: checks,
    // On a terminal the next steps follow the table, so that they are not cut.
    columns: isTerminal ? COLUMNS.slice(0, 3) : COLUMNS,
    identify: (check) => check.check,
    empty: '',
    isWrapped: true,
    exitCode: hasFault ? EXIT.negative : EXIT.success,
    notes: [hasFault ? 'What to do next:' : 'No fault found.', ...checks.flatMap(describeNext)],
  });
}

function describeNext({ check, status, next }: Check): readonly string[] {
  return next === '' ? [] : [`  ${LABELS[status].slice(0, 1)} ${check}: ${next}`];
}

export const commands = ofNoun('doctor', [doctor]);

/** The checks of connected workers, by the worker. */
const WORKER_CHECKS: Readonly<Record<string, MediaWorkerKind>> = {
  recorder: 'egress',
  'ingress worker': 'ingress',
};

/**
 * Repairs what is missing, and reports on stderr what was done, and what was not and why. The result is that of the repeated
 * checks.
 */
async function fixWhatIsMissing(context: Context, checks: readonly Check[]): Promise<void> {
  const { io, terminal } = context;
  const missing = checks
    .filter(({ status }) => status === 'fault' || status === 'note')
    .flatMap(({ check }) => WORKER_CHECKS[check] ?? []);
  try {
    const admin = await io.loaders.admin();
    for (const repair of await admin.fix(missing, io.signal)) printStatus(terminal, describe(repair));
  } catch (error) {
    throw startError(error, { exitCode: EXIT.usage, signal: io.signal });
  }
}

function describe({ subject, status, detail, next }: Repair): string {
  const said = `${subject}: ${status === 'done' ? '' : `${status}, `}${detail}`;
  return next === '' ? said : `${said}; ${next}`;
}

/** The requests in the order of the checks. Those of --probe depend on responses, and cannot be listed beforehand. */
const REQUESTS: readonly (readonly [description: string, send: (client: RtcClient) => Promise<unknown>])[] = [
  ['address, clock, add-ons', (client) => client.health()],
  ['signature, media server', (client) => client.rooms.list({ limit: 1 })],
  ['API key', (client) => client.keys.self()],
  ['database', (client) => client.ready()],
  ['bucket', (client) => client.checkSelf()],
  ['ingress', (client) => client.ingress.list(NO_ROOM)],
];

/** Prints with --curl every request of doctor, each under its explanation. */
async function printRequests(context: Context): Promise<Result> {
  const client = await context.client();
  for (const [description, send] of REQUESTS) {
    context.io.stdout.write(`# ${description}\n`);
    await send(client).catch((error: unknown) => {
      if (!(error instanceof CurlPrinted)) throw error;
    });
  }
  return nothing();
}

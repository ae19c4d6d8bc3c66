import { randomBytes } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import type { Recorded } from './recorded-runs.ts';

/*
 * Runs requests to a service, or one command of the command line, from their sources, and prints the files of src that each
 * passed, for recorded-runs.ts: `node record-process.ts service`, or `node record-process.ts rooms list`. The clocks of the
 * service stand still, so that no periodic work is recorded.
 */

const SRC = `${pathToFileURL(join(import.meta.dirname, '..', '..')).href}/src/`;
/** At least as long as outcomes wait for others, in src/server/webhooks/dispatcher/delivery-dispatcher.ts. */
const OUTCOME_BATCH_MS = 1000;

// Optimized code does not count the functions that it inlines.
for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug']) setFlagsFromString(flag);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const words = process.argv.slice(2);
const recorded = words[0] === 'service' ? await recordService() : await recordCommand(words);
process.stderr.write(`\n${JSON.stringify(recorded)}\n`);
process.exit();

/** Returns the files with a function that ran since the last call. */
async function takeFiles(): Promise<readonly string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(SRC))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => {
        const [range] = ranges;
        // The body of a module has no name and begins where the file begins.
        const isModule = functionName === '' && range?.startOffset === 0;
        return !isModule && (range?.count ?? 0) > 0;
      }),
    )
    .map(({ url }) => url.slice(SRC.length))
    .toSorted();
}

/** Records the second run of a work. The first one loads and prepares what is there once. */
async function recordSecond(work: () => Promise<void>): Promise<readonly string[]> {
  await work();
  await takeFiles();
  await work();
  return await takeFiles();
}

async function recordService(): Promise<Recorded> {
  const { chooseServicePort, startHookedService } = await import(
    '../../test/server/webhooks/support/hooked-service.ts'
  );
  const { startReceiver } = await import('../../test/server/webhooks/support/receiver.ts');
  const { ABSENT_MEDIA, postMediaEvent, roomLife } = await import(
    '../../test/server/webhooks/support/media-webhook.ts'
  );
  const { ManualClock } = await import('../../test/support/manual-clock.ts');
  const { observeStatements } = await import('../../test/support/observe-statements.ts');

  const timer = new ManualClock(0);
  const clock = new ManualClock(Date.now());
  const { port } = await chooseServicePort();
  const livekit = { url: 'ws://127.0.0.1:9', ...ABSENT_MEDIA };
  const service = await startHookedService(port, { livekit, clock, timer });
  const receiver = await startReceiver();
  let written = Promise.withResolvers<void>();
  observeStatements((sql) => {
    if (sql.trimStart().startsWith('insert into deliveries')) written.resolve();
  });
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.call('POST', path, { body });
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
  };
  const webhookFiles = await recordSecond(() =>
    post('/v1/webhooks', {
      url: `${receiver.url}/${randomBytes(4).toString('hex')}`,
      events: ['ingress_ended'],
    }),
  );
  const tokenFiles = await recordSecond(() =>
    post('/v1/token', { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'participant' }),
  );
  await post('/v1/webhooks', { url: receiver.url });
  // The room begins, and its first person joins, before the two who are recorded.
  const [start, first, second, third] = roomLife('recorded');
  const deliver = async (event: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    written = Promise.withResolvers();
    const before = receiver.received.length;
    const status = await postMediaEvent(service.url, event);
    if (status !== 200) throw new Error(`an event was answered ${status}`);
    await receiver.waitFor(() => true, before + 1);
    // The outcome waits for others from the moment at which the sender has read the response.
    const waiting = setInterval(() => timer.advance(OUTCOME_BATCH_MS), 1);
    await written.promise;
    clearInterval(waiting);
  };
  for (const event of [start, first]) await deliver(event);
  const events = [second, third];
  const eventFiles = await recordSecond(() => deliver(events.shift()));
  return { eventFiles, webhookFiles, tokenFiles };
}

/** Records one command as the launcher runs it: every process runs it for the first time. */
async function recordCommand(argv: readonly string[]): Promise<Recorded> {
  const { main } = await import('../../src/cli/main.ts');
  const absent = async (): Promise<never> => {
    throw new Error('only commands of the command line itself are recorded');
  };
  await takeFiles();
  const code = await main(argv, {
    ...{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env },
    ...{ workingDirectory: process.cwd(), launcher: 'rtc', processId: process.pid, clock: Date.now },
    runtime: { node: process.versions.node, platform: process.platform, arch: process.arch },
    signal: new AbortController().signal,
    processControl: { onSignal: () => () => {}, onExit: () => () => {}, stop: () => {} },
    loaders: {
      ...{ serve: absent, dev: absent, worker: absent, roomClient: absent, stt: absent },
      ...{ admin: absent, bundled: absent },
    },
  });
  if (code !== 0) throw new Error(`rtc ${argv.join(' ')} ended with ${code}`);
  const files = await takeFiles();
  return argv[0] === 'cf' ? { cfCheckFiles: files } : { roomsListFiles: files };
}

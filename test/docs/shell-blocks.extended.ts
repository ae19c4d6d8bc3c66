import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EventStack, startEventStack } from '../cli/support/event-stack.ts';
import { type Receiver, respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { LAUNCHER } from '../support/parts/built.ts';
import { freePort } from '../support/parts/run-part.ts';
import { ROOT } from './pages.ts';
import { blocksIn, shellLines } from './support/blocks.ts';
import { isRun, PAGES_NOT_RUN } from './support/not-run.ts';

/*
 * Runs every command of the pages in bash against a live service, except for those in not-run.ts. Where a page uses
 * EG_tH8vdkRoTDWY or ID, the test puts the id of an existing thing. A command that follows is interrupted after some
 * seconds.
 */

/** Exit codes other than 0 that the page mentions, or that the state of the service causes. */
const OTHER_CODES: readonly (readonly [begin: string, code: number])[] = [
  ['rtc cf check RSSMRA80B01H501X', 7],
  ['rtc admin restore', 5],
];

/** Commands that ask on a terminal. Without one they need `--yes`. */
const ASKING = /^rtc (admin restore|keys revoke|participants remove|recordings delete|rooms delete)\b.*/;

const SECONDS_OF_FOLLOWING = 6;
const FOLLOWING = /--watch|webhooks listen(?!.*--print-secret)|events tail|rtc console|rooms open|rtc serve$/;

const run = promisify(execFile);
let stack: EventStack;
let receiver: Receiver;
let folder: string;
let names: readonly (readonly [name: string, value: string])[];

beforeAll(async () => {
  stack = await startEventStack();
  receiver = await startReceiver();
  receiver.behave(respondWith(204));
  folder = await mkdtemp(join(tmpdir(), 'rtc-pages-'));
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
  await writeFile(
    join(folder, 'people.csv'),
    'name,surname,gender,date,city,cf\nMario,Rossi,M,1980-02-01,Roma,RSSMRA80B01H501T\n',
  );
  await writeFile(join(folder, 'terms.txt'), 'LiveKit\n');
  await writeFile(join(folder, 'codes.txt'), 'RSSMRA80B01H501T\n');
  await writeFile(join(folder, 'demo.json'), '{"topic":"demo"}');
  await fillRoom();
  names = await namesOfThePages();
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
  await rm(folder, { recursive: true });
});

describe('the commands of a page', () => {
  const blocks = blocksIn('sh').filter(
    ([, block]) => PAGES_NOT_RUN[block.page] === undefined && shellLines(block).some(isRun),
  );
  it.each(blocks)('run: %s', async (_where, block) => {
    await fillRoom();
    const lines = shellLines(block)
      .filter(isRun)
      .map((line) => withNames(line.replace(ASKING, '$& --yes')));
    const { stdout, stderr } = await run('bash', ['-c', script(lines)], {
      cwd: folder,
      env: environment(),
      timeout: 90_000,
      killSignal: 'SIGKILL',
    });
    const codes = [...stdout.matchAll(/^::\d+ (\d+)$/gm)].map(([, code]) => Number(code));
    const failed = lines
      .filter((line, index) => codes[index] !== pickCode(line))
      .map((line) => `${line}: ${codes[lines.indexOf(line)]}`);
    expect(failed, stdout + stderr).toEqual([]);
  });
});

/** Lets two participants publish in the room that the pages use. */
async function fillRoom(): Promise<void> {
  await stack.rtc('rooms create demo');
  await stack.rtc('blocks remove demo ada');
  await stack.rtc('blocks remove demo bob');
  for (const identity of ['ada', 'bob']) {
    await stack.join('demo', identity);
    stack.media.control.publish('demo', identity);
  }
}

/** Creates a recording, a webhook with a delivery, and a key, and returns the names that the pages have for them. */
async function namesOfThePages(): Promise<readonly (readonly [name: string, value: string])[]> {
  const json = async (line: string) => {
    const { stdout, stderr } = await stack.rtc(line);
    return stdout === '' ? expect.unreachable(`${line}: ${stderr}`) : JSON.parse(stdout);
  };
  const { id: webhook } = await json(`webhooks create ${receiver.url}/hook --json id`);
  await fillRoom();
  const { egressId } = await json('recordings start demo --wait --json egressId');
  await stack.rtc('recordings stop demo --wait');
  const { id: delivery, eventId } = await vi.waitFor(
    async () => {
      const { deliveries } = await json(
        `webhooks deliveries ${webhook} --status delivered --json id,eventId`,
      );
      return deliveries[0] ?? expect.unreachable();
    },
    { timeout: 60_000 },
  );
  const { id: key } = await json('keys create test --scope read --json id');
  const { sessions } = await json('sessions list --room demo --json sessionId');
  const { entries } = await json('audit list --json requestId');
  const port = await freePort();
  return [
    ['http://127.0.0.1:3000', stack.service.url],
    ['localhost:3000', new URL(stack.service.url).host],
    ['127.0.0.1:4000', `127.0.0.1:${port}`],
    ['http://localhost:4000/hook', `${receiver.url}/hook`],
    ['EG_tH8vdkRoTDWY', egressId],
    ['RM_hycBMAjmt6Ub', sessions[0].sessionId],
    ['dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', delivery],
    ['key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', key],
    ['6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51', entries[0].requestId],
    ['WEBHOOK DELIVERY', `${webhook} ${delivery}`],
    ['--event EVENT', `--event ${eventId}`],
    ['/var/lib/rtc', stack.dataDir],
    ['/backups/', `${folder}/backup-${port}-`],
    ['node examples/receiver-js', `PORT=${port} node examples/receiver-js`],
    [' ID', ` ${webhook}`],
  ];
}

function withNames(line: string): string {
  return names.reduce((text, [name, value]) => text.replaceAll(name, value), line);
}

function pickCode(line: string): number {
  return OTHER_CODES.find(([begin]) => line.startsWith(begin))?.[1] ?? 0;
}

/** Returns a script that prints the exit code of each line after it. */
function script(lines: readonly string[]): string {
  const follow = `timeout --kill-after=5 --signal=INT ${SECONDS_OF_FOLLOWING}`;
  return [
    'exec < /dev/null',
    "trap 'kill $(jobs -p) 2> /dev/null' EXIT",
    'run() { "$NODE" "$RTC" "$@"; }',
    // The exit code is 124 if the time limit ended the command.
    `follow() { ${follow} "$NODE" "$RTC" "$@"; local code=$?; [ $code = 124 ] || return $code; }`,
    ...lines.flatMap((line, index) => [
      `rtc() { ${FOLLOWING.test(line) ? 'follow' : 'run'} "$@"; }`,
      line,
      `printf '\\n::%d %d\\n' ${index} $?`,
    ]),
  ].join('\n');
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...stack.environment,
    PATH: process.env.PATH,
    HOME: folder,
    NODE: process.execPath,
    RTC: LAUNCHER,
  };
}

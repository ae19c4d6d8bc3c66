import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';

const LOG = new URL('../../../src/server/platform/pino-log.ts', import.meta.url).href;
const ERRORS = new URL('../../../src/contract/errors.ts', import.meta.url).href;

let stop = (): void => {};
afterEach(() => stop());

function readArguments(body: string): readonly string[] {
  const program = `import { createLog } from ${JSON.stringify(LOG)};\nconst log = createLog('info');\n${body}`;
  return ['--input-type=module', '--eval', program];
}

/** Runs `body` in a process in which `log` is defined. */
function runWithLog(body: string) {
  const child = spawn(process.execPath, readArguments(body), { stdio: ['ignore', 'ignore', 'pipe'] });
  stop = () => void child.kill('SIGKILL');
  return { lines: createInterface({ input: child.stderr }), ended: once(child, 'close') };
}

/** Returns every line of a process that ends by itself. Lines that are not JSON are separate. */
async function listLines(body: string) {
  const { lines, ended } = runWithLog(body);
  const all: string[] = [];
  lines.on('line', (line) => all.push(line));
  const [exitCode] = await ended;
  const logged = all.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  return { logged, others: all.filter((line) => !line.startsWith('{')), exitCode };
}

describe('the log', () => {
  it('has one JSON object per line, with the time, the level by name and the fields', async () => {
    const { logged } = await listLines(
      `log.warn({ code: 'rate-limited', n: 1 }, 'request "refused"'); log.debug({}, 'x');`,
    );
    expect(logged).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        service: 'rtc-service',
        code: 'rate-limited',
        n: 1,
        msg: 'request "refused"',
      },
    ]);
  });

  it.each(['info', 'warn'])('writes the same members at level %s', async (level) => {
    const { logged } = await listLines(`
      const loop = { name: 'loop' };
      loop.self = loop;
      log.${level}({}, 'none');
      log.${level}({ text: 'a "quoted"\\n\\u0007 è', none: undefined, nan: NaN, no: null, list: [1, { a: 2 }] }, 'all');
      log.${level}({ loop }, 'a cycle');
      log.${level}({ big: 1n }, 'a big integer');
      log.${level}({ err: new Error('it broke'), n: 1 }, 'an error');`);
    const shared = { level, time: expect.any(String), service: 'rtc-service' };
    expect(logged).toEqual([
      { ...shared, msg: 'none' },
      { ...shared, text: 'a "quoted"\n\u0007 è', nan: null, no: null, list: [1, { a: 2 }], msg: 'all' },
      { ...shared, loop: { name: 'loop', self: '[Circular]' }, msg: 'a cycle' },
      { ...shared, big: 1, msg: 'a big integer' },
      { ...shared, err: expect.objectContaining({ message: 'it broke' }), n: 1, msg: 'an error' },
    ]);
  });

  it('leaves out lines below its level', async () => {
    const { lines, ended } = runWithLog(`
      const quiet = createLog('warn');
      quiet.info({}, 'not written');
      quiet.warn({}, 'written');`);
    const messages: string[] = [];
    lines.on('line', (line) => messages.push(JSON.parse(line).msg));
    await ended;
    expect(messages).toEqual(['written']);
  });

  it('names version and instance', async () => {
    const { logged } = await listLines(
      `createLog('info', { version: '1.2.3', instance: 'i1' }).info({}, 'x');`,
    );
    expect(logged).toMatchObject([{ service: 'rtc-service', version: '1.2.3', instance: 'i1', msg: 'x' }]);
  });

  it('describes an expected error by its code and causes, and others with their stack', async () => {
    const { logged } = await listLines(`
      const { ServiceError } = await import(${JSON.stringify(ERRORS)});
      const cause = new Error('connect ECONNREFUSED');
      log.warn({ err: new ServiceError('media-server-unavailable', 'It is down.', { cause }) }, 'foreseen');
      log.error({ err: new ServiceError('internal-error', 'It broke.', { cause }) }, 'not foreseen');
      log.error({ err: new TypeError('no function') }, 'not foreseen');`);
    expect(logged.map(({ err }) => err)).toEqual([
      { code: 'media-server-unavailable', message: 'It is down: connect ECONNREFUSED' },
      expect.objectContaining({ code: 'internal-error', stack: expect.stringContaining('at ') }),
      expect.objectContaining({ type: 'TypeError', stack: expect.stringContaining('at ') }),
    ]);
  });

  it('has the time of each line', async () => {
    const { logged } = await listLines(`
      for (let n = 0; n < 5; n += 1) {
        const from = Date.now();
        log.info({ from }, 'line');
        while (Date.now() === from);
      }`);
    expect(logged).toHaveLength(5);
    for (const { time, from } of logged) expect(Date.parse(time)).toBeGreaterThanOrEqual(from);
  });

  it('is complete and in order when the process ends, however long it is', async () => {
    const { logged } = await listLines(`for (let n = 0; n < 5000; n += 1) log.info({ n }, 'line');`);
    expect(logged.map(({ n }) => n)).toEqual(Array.from({ length: 5000 }, (_, n) => n));
  });

  it('is written by a process that exits, and by one that an exception ends', async () => {
    const exiting = await listLines(`log.info({ n: 1 }, 'last'); process.exit(3);`);
    expect([exiting.exitCode, exiting.logged.map(({ n }) => n)]).toEqual([3, [1]]);
    const failing = await listLines(`log.info({ n: 1 }, 'last'); throw new Error('nobody catches it');`);
    expect([failing.exitCode, failing.logged.map(({ n }) => n)]).toEqual([1, [1]]);
    expect(failing.others.join('\n')).toContain('nobody catches it');
  });

  it('waits neither for the end of the process nor for a full batch', async () => {
    const { lines } = runWithLog(`log.info({ n: 1 }, 'line'); setInterval(() => {}, 1000);`);
    const [line] = await once(lines, 'line');
    expect(JSON.parse(line)).toMatchObject({ n: 1, msg: 'line' });
  });

  it('does not keep a process running that has nothing else to do', async () => {
    expect((await listLines(`log.info({}, 'line');`)).exitCode).toBe(0);
  });

  const MANY = 100_000;
  const logMany = `
    for (let n = 0; n < ${MANY}; n += 1) {
      log.info({ n }, 'line');
      if (n % 1000 === 0) await new Promise((next) => setImmediate(next));
    }
    process.stdout.write('logged');`;

  it('drops lines while its reader stalls, and reports their number when the reader continues', async () => {
    const child = spawn(process.execPath, readArguments(`${logMany} setInterval(() => {}, 1000);`), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    stop = () => void child.kill('SIGKILL');
    await once(child.stdout, 'data');
    let read = 0;
    for await (const line of createInterface({ input: child.stderr })) {
      const { dropped } = JSON.parse(line);
      if (dropped === undefined) read += 1;
      else {
        expect(dropped).toBeGreaterThan(MANY / 2);
        expect(read + dropped).toBe(MANY);
        break;
      }
    }
  });

  it('lets a process end whose reader stalls', async () => {
    const child = spawn(process.execPath, readArguments(`${logMany} process.exit(7);`), {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    stop = () => void child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  // Every write to this device fails like on a full disk.
  it.skipIf(!existsSync('/dev/full')).each([
    [
      'goes on where its disk is full',
      `let n = 0; setInterval(() => { log.info({}, 'line'); n += 1; if (n === 30) process.exit(7); }, 20);`,
    ],
    ['lets a process end whose disk is full', `log.info({}, 'line'); process.exit(7);`],
  ])('%s', async (_title, body) => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, readArguments(body), { stdio: ['ignore', 'ignore', full] });
    closeSync(full);
    stop = () => void child.kill('SIGKILL');
    expect(await once(child, 'close')).toEqual([7, null]);
  });
});

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from './print-figures.ts';
import { ROOT } from './sources.ts';

/*
 * Counts the calls of our own functions between argv and the output of a command. A process runs the command from its
 * sources while V8 counts every call (precise coverage, which Node writes to NODE_V8_COVERAGE). The sum covers the
 * functions of files in src, without the module bodies.
 */

type CoverageReport = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
};

export async function countCliCalls(): Promise<readonly Figure[]> {
  const method = 'calls of functions of src, by V8 precise coverage';
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(ONE_ROOM);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const check = await countCalls(['cf', 'check', 'RSSMRA85T10A562S'], port);
  const list = await countCalls(['rooms', 'list'], port);
  server.close();
  return [
    { what: 'calls from argv to output of rtc cf check', measured: check, atMost: 400, method },
    {
      what: 'calls from argv to output of rtc rooms list',
      measured: list,
      atMost: 300,
      method: `${method}; one room`,
    },
  ];
}

const ONE_ROOM = JSON.stringify({
  rooms: [{ name: 'demo', sid: 'RM_1', numParticipants: 2, maxParticipants: 0, creationTime: 1_767_225_600 }],
});

async function countCalls(argv: readonly string[], port: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-house-'));
  try {
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'run-command.ts'), ...argv], {
      env: {
        ...{ PATH: process.env.PATH, HOME: folder, NODE_V8_COVERAGE: folder },
        ...{ RTC_URL: `http://127.0.0.1:${port}`, RTC_API_KEY: 'key', RTC_API_SECRET: 'secret' },
      },
    });
    const [file = ''] = (await readdir(folder)).filter((name) => name.startsWith('coverage-'));
    return sumCalls(JSON.parse(await readFile(join(folder, file), 'utf8')) as CoverageReport);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The body of a module is the function that begins where the file begins. */
function sumCalls({ result }: CoverageReport): number {
  const sources = result.filter(
    ({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(`${ROOT}/src/`),
  );
  const ranges = sources.flatMap(({ functions }) => functions.flatMap((each) => each.ranges[0] ?? []));
  return ranges
    .filter(({ startOffset }) => startOffset > 0)
    .reduce((sum, { count: calls }) => sum + calls, 0);
}

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DIST, LAUNCHER, ROOT } from '../../../support/parts/built.ts';
import { SAMPLE_LANGUAGES } from '../../../support/parts/sample-languages.ts';
import { sharedLivekit } from '../../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

/*
 * Runs every code sample of the reference against the real service. The rooms and recordings of the samples do not exist,
 * which is expected. A sample fails if the service refuses its signature or its input.
 */

const run = promisify(execFile);

type Sample = { readonly lang: string; readonly label: string; readonly source: string };
type Operation = { readonly operationId: string; readonly 'x-codeSamples': readonly Sample[] };
/** Statuses of requests that the service understood. */
const UNDERSTOOD = [200, 201, 202, 204, 302, 304, 404, 409, 503];

describe('the samples of the reference', () => {
  let service: TestService;
  let folder: string;
  let operations: readonly Operation[];

  beforeAll(async () => {
    service = await startTestService({ livekit: await sharedLivekit() });
    folder = await mkdtemp(join(tmpdir(), 'rtc-samples-'));
    const ids = Object.values(service.document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    operations = await Promise.all(ids.map(fetchOperation));
    await mkdir(join(folder, 'node_modules/@rtc-service/client'), { recursive: true });
    await symlink(`${DIST}client`, join(folder, 'node_modules/@rtc-service/client/dist'));
    await writeFile(
      join(folder, 'node_modules/@rtc-service/client/package.json'),
      '{"name":"@rtc-service/client","type":"module","exports":"./dist/index.js"}',
    );
    await symlink(`${ROOT}node_modules/typebox`, join(folder, 'node_modules/typebox'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/rtc'), `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`, {
      mode: 0o755,
    });
  });
  afterAll(async () => {
    await service?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** Returns an operation with the samples that its page shows. */
  const fetchOperation = async (id: string): Promise<Operation> => {
    const document = await service.call('GET', `/docs/try/${id}/document.json`, { signing: false });
    const { paths }: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } =
      document.json;
    const [operation] = Object.values(paths).flatMap((item) => Object.values(item));
    return operation ?? expect.unreachable(id);
  };

  const environment = () => ({
    ...process.env,
    PATH: `${folder}/bin:${process.env.PATH}`,
    RTC_URL: service.url,
    API_KEY: service.apiKey,
    API_SECRET: service.apiSecret,
    RTC_API_KEY: service.apiKey,
    RTC_API_SECRET: service.apiSecret,
  });

  const writeSamples = async (label: string, file: string): Promise<ReadonlyMap<string, string>> => {
    const written = new Map<string, string>();
    for (const { operationId, 'x-codeSamples': samples } of operations) {
      const sample = samples.find((each) => each.label === label);
      if (sample === undefined) continue;
      const own = join(folder, label, operationId);
      await mkdir(own, { recursive: true });
      await writeFile(join(own, file), sample.source);
      written.set(operationId, own);
    }
    return written;
  };

  /** Runs a program. Returns the statuses that the service responded with meanwhile, and the program's output. */
  const observe = async (program: string, args: readonly string[]) => {
    const before = service.logLines.length;
    const output = await run(program, args, { cwd: folder, env: environment() }).then(
      ({ stdout }) => stdout,
      (error: Error) => error.message,
    );
    const statuses = () =>
      service.logLines
        .slice(before)
        .filter(({ message }) => message === 'request completed')
        .map(({ fields }) => Number(fields.status));
    // The program may end before the service has logged its request.
    await vi.waitUntil(() => statuses().length > 0, { timeout: 5_000 }).catch(() => undefined);
    return { statuses: statuses(), output };
  };

  it.each(Object.entries(SAMPLE_LANGUAGES))(
    'in %s are accepted by the service',
    { timeout: 600_000 },
    async (label, language) => {
      const samples = await writeSamples(label, language.file);
      if (language.compile !== undefined) {
        const { program, args } = language.compile;
        await run(program, args, { cwd: join(folder, label) });
      }
      const wrong: unknown[] = [];
      for (const [operationId, own] of samples) {
        const { program, args } = language.run(own);
        const { statuses, output } = await observe(program, args);
        // A file's link is signed by the service. The one in the example has expired.
        const understood = operationId === 'fetchRecordingFile' ? [403] : UNDERSTOOD;
        const isUnderstood = statuses.length > 0 && statuses.every((status) => understood.includes(status));
        if (!isUnderstood) wrong.push([operationId, statuses, output]);
      }
      expect(wrong).toEqual([]);
      expect(samples.size).toBeGreaterThan(40);
    },
  );
});

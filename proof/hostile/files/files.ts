import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { excelWorkbook } from '../../../test/cli/support/excel-workbook.ts';
import { makeArchive } from '../../../test/server/transcription/models/archives.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { exactly, type Figure, observed } from '../../figures.ts';
import { type CommandRun, costFigures, hasCrashed, runCommand } from '../../support/command-run.ts';
import { startRawServer } from '../raw-server.ts';

/** A published model: each of its files has a known SHA-256. */
const MODEL = 'parakeet-tdt-0.6b-v3';
const ARCHIVE = 'sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8.tar.bz2';
/** Nothing proves the files of this small model, so that its archive is read to its end. */
const UNPROVEN = 'zipformer-small-ru';
const UNPROVEN_ARCHIVE = 'sherpa-onnx-small-zipformer-ru-2024-09-18.tar.bz2';
const DETECTOR = 'silero-vad';
const LIMITS = { seconds: 45, memoryMb: 1_600 } as const;

/** Makes hostile files in the folder, and returns the words of the command that reads them. */
type Case = { readonly make: (folder: string) => Promise<readonly string[]>; readonly isQuick?: true };

const install = (from: string): readonly string[] => ['stt', 'install', MODEL, '--from', from];

/** Python writes archives that no honest program writes. The zeros are compressed in parts, of which bzip2 makes one stream. */
const BOMB = `
import bz2, sys, tarfile
zeros = bz2.compress(bytes(64 * 1024 * 1024))
def header(path, kind, size):
    info = tarfile.TarInfo(path)
    info.type, info.size = kind, size
    return bz2.compress(info.tobuf())
with open(sys.argv[1], 'wb') as file:
    file.write(header(sys.argv[2], sys.argv[3].encode(), int(sys.argv[4])))
    for _ in range(160): file.write(zeros)
`;

/** Ten GB of zeros in a few kB. The header gives them to an entry of this path and type. */
const bomb = (path: string, type: string, size: number): Case => ({
  make: async (folder) => {
    execFileSync('python3', ['-c', BOMB, join(folder, UNPROVEN_ARCHIVE), path, type, String(size)]);
    return ['stt', 'install', UNPROVEN, '--accept-unverified', '--from', folder];
  },
});

const workbook = (
  change: (bytes: Buffer) => Buffer,
  parts: Parameters<typeof excelWorkbook>[0] = {},
): Case => ({
  isQuick: true,
  make: async (folder) => {
    await writeFile(join(folder, 'people.xlsx'), change(excelWorkbook(parts)));
    return ['cf', 'generate', '--file', 'people.xlsx', '--append', '--out', 'out.csv'];
  },
});

const same = (bytes: Buffer): Buffer => bytes;
const sheetWith = (rows: string): string =>
  `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`;
const SHEET = 'xl/worksheets/sheet2.xml';

/** A backup whose manifest fits its files, whatever they are. */
const backup = (change: (database: string) => Promise<void>): Case => ({
  isQuick: true,
  make: async (folder) => {
    const [copy, database] = [join(folder, 'backup'), join(folder, 'backup', 'rtc.sqlite')];
    await mkdir(copy);
    await change(database);
    const isLink = await readdir(copy, { withFileTypes: true }).then((entries) =>
      entries.some((entry) => entry.isSymbolicLink()),
    );
    // The link leads to a device that never ends.
    const sha256 = isLink
      ? ''
      : createHash('sha256')
          .update(await readFile(database))
          .digest('hex');
    const manifest = {
      format: 1,
      version: '0.1.0',
      createdAt: '2026-01-31T09:30:00.000Z',
      key: 'setting',
      files: { 'rtc.sqlite': sha256 },
    };
    await writeFile(join(copy, 'backup.json'), JSON.stringify(manifest));
    return ['admin', 'restore', copy, '--yes'];
  },
});

const withSql =
  (sql: string) =>
  async (path: string): Promise<void> => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  };

const CASES: Readonly<Record<string, Case>> = {
  'an archive of ten GB': bomb('model/tokens.txt', '0', 2 ** 33),
  'an archive of names of a GB': bomb('model/x', 'L', 2 ** 30),
  'an archive of nothing': {
    isQuick: true,
    make: async (folder) => {
      makeArchive(join(folder, ARCHIVE), []);
      return install(folder);
    },
  },
  'a folder with a device': {
    isQuick: true,
    make: async (folder) => {
      await symlink('/dev/zero', join(folder, 'tokens.txt'));
      return install(folder);
    },
  },
  'a sheet of 90 MB of empty rows': workbook(same, { [SHEET]: sheetWith('<row/>'.repeat(15_000_000)) }),
  'a row of a million cells': workbook(same, {
    [SHEET]: sheetWith(`<row r="1">${'<c><v>1</v></c>'.repeat(500_000)}</row>`),
  }),
  'elements inside each other': workbook(same, { [SHEET]: sheetWith('<x>'.repeat(1_000_000)) }),
  'entities of entities': workbook(same, {
    'xl/sharedStrings.xml': `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${[...'bcdefghij'].map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghij'[at]};`.repeat(10)}">`).join('')}]><sst><si><t>&j;</t></si></sst>`,
  }),
  'a file of the system as an entity': workbook(same, {
    'xl/sharedStrings.xml':
      '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><sst><si><t>&a;</t></si></sst>',
  }),
  'a column beyond all': workbook(same, {
    [SHEET]: sheetWith('<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>'),
  }),
  'a row beyond all': workbook(same, {
    [SHEET]: sheetWith('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'),
  }),
  'thirty MB of texts': workbook(same, {
    'xl/sharedStrings.xml': `<sst>${Array.from({ length: 900_000 }, (_, at) => `<si><t>${at * 7_919}</t></si>`).join('')}</sst>`,
  }),
  'a workbook that is cut off': workbook((bytes) => bytes.subarray(0, bytes.length / 2)),
  'a workbook of a TB': {
    isQuick: true,
    make: async (folder) => {
      await writeFile(join(folder, 'people.xlsx'), 'PK\u0003\u0004');
      await truncate(join(folder, 'people.xlsx'), 2 ** 40);
      return ['cf', 'generate', '--file', 'people.xlsx', '--append', '--out', 'out.csv'];
    },
  },
  'a table of a GB in one line': {
    make: async (folder) => {
      await writeFile(join(folder, 'people.csv'), 'cognome;nome');
      await truncate(join(folder, 'people.csv'), 2 ** 30);
      return ['cf', 'generate', '--file', 'people.csv', '--append', '--out', 'out.csv'];
    },
  },
  'a backup that is a device': backup((path) => symlink('/dev/zero', path)),
  'a backup that is no database': backup((path) => writeFile(path, 'x'.repeat(100_000))),
  'a backup with a trigger': backup(
    withSql(
      "create table rtcMigrations(name text); create trigger t after insert on rtcMigrations begin select load_extension('/tmp/x'); end",
    ),
  ),
  'a backup with a view that never ends': backup(
    withSql(
      'create view rtcMigrations as with recursive x(name) as (select 1 union all select name + 1 from x) select name from x',
    ),
  ),
};

export const hostileFiles: Experiment = { name: 'hostile-files', run: readHostile };

type Reading = { readonly name: string; readonly run: CommandRun; readonly left: readonly string[] };

async function readHostile(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const readings: Reading[] = [];
  for (const [name, { make, isQuick }] of Object.entries(CASES)) {
    if (runSize === 'short' && isQuick !== true) continue;
    readings.push(await readOne(context, name, make));
    const { run, left } = readings.at(-1) ?? { left: [] };
    const [seconds, megabytes] = [run?.seconds.toFixed(1), Math.round(run?.highestMb ?? 0)];
    report(
      `${name}: ${run?.code}, ${seconds} s, ${megabytes} MB, left ${left.join(' ') || 'nothing'}: ${run?.output
        .split('\n')
        .find((line) => /Error|workbook/.test(line))
        ?.slice(0, 160)}`,
    );
  }
  readings.push(...(runSize === 'long' ? [await meetEndlessMirror(context)] : []));
  const none = (name: string, isWrong: (reading: Reading) => boolean): Figure => {
    const wrong = readings.filter(isWrong);
    for (const { name: file, run } of wrong)
      report(`wrong: ${file}: ${run.code} ${run.output.slice(0, 300)}`);
    return exactly(name, wrong.length, 0);
  };
  const runs = readings.map(({ run }) => run);
  return {
    figures: [
      observed('hostile files', readings.length),
      none('commands that did not end by themselves', ({ run }) => run.isStuck),
      none('commands that crashed', ({ run }) => hasCrashed(run)),
      none('models and databases that were taken over', ({ left }) => left.length > 0),
      ...costFigures(runs, LIMITS),
    ],
  };
}

async function readOne(context: ExperimentContext, name: string, make: Case['make']): Promise<Reading> {
  const folder = await makeFolder(context);
  const home = await makeFolder(context);
  const models = join(home, 'rtc-service', 'models');
  await mkdir(models, { recursive: true });
  await cp(join(defaultCacheDir(process.env), 'models', DETECTOR), join(models, DETECTOR), {
    recursive: true,
  });
  const argv = await make(folder);
  const environment = {
    HOME: home,
    XDG_CACHE_HOME: home,
    DATA_DIR: join(home, 'data'),
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  };
  const run = await runCommand(argv, { folder, environment });
  const left = (await readdir(models)).filter((each) => each !== DETECTOR && !each.startsWith('.download-'));
  if (existsSync(join(home, 'data', 'rtc.sqlite'))) left.push('rtc.sqlite');
  await rm(folder, { recursive: true, force: true });
  return { name, run, left };
}

/** A mirror that sends bytes for ever, and does not say how many. */
async function meetEndlessMirror(context: ExperimentContext): Promise<Reading> {
  const piece = Buffer.alloc(1024 ** 2);
  const server = context.cleanUp(
    await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/x-bzip2\r\n\r\n');
      const send = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', send);
      send();
    }),
  );
  const argv = ['stt', 'install', UNPROVEN, '--accept-unverified', '--from', server.url];
  return await readOne(context, 'a mirror without end', async () => argv);
}

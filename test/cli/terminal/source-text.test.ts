import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

/* Text that comes from files and stdin, as editors, spreadsheets and PowerShell write it. */

let server: TestHttpServer;
let folder: string;
beforeAll(async () => {
  server = await startHttpServer((_request, response) => json(response, 200, { name: 'demo', rooms: [] }));
});
afterAll(() => server.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-text-'));
});
afterEach(() => rm(folder, { recursive: true }));

const CREDENTIALS = { RTC_API_KEY: 'key', RTC_API_SECRET: 'secret' };

function rtc(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const env = { XDG_CONFIG_HOME: folder, RTC_URL: server.url, ...CREDENTIALS, ...options.env };
  return run(argv, { workingDirectory: folder, ...options, env });
}

const UTF16 = Buffer.from('\ufeff{"note":"caffè"}', 'utf16le');
const ENCODINGS: readonly (readonly [name: string, bytes: Buffer, encoding: string, writer: string])[] = [
  ['Windows-1252', Buffer.from('{"note":"caffè"}', 'latin1'), 'Windows-1252', 'Excel'],
  ['UTF-16', UTF16, 'UTF-16', 'PowerShell'],
  ['UTF-16 of the other order', Buffer.from(UTF16).swap16(), 'UTF-16', 'PowerShell'],
  ['UTF-16 without a mark', Buffer.from('{"note":1}', 'utf16le'), 'UTF-16', 'PowerShell'],
];

describe('a text in another encoding than UTF-8', () => {
  it.each(ENCODINGS)('is refused in a file, with the remedy: %s', async (_name, bytes, encoding, writer) => {
    await writeFile(join(folder, 'note file.json'), bytes);
    const before = server.received.length;
    const { code, stderr } = await rtc(['rooms', 'update', 'demo', '--metadata', '@note file.json']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `note file.json is not UTF-8; it looks like ${encoding}, as ${writer} writes it`,
    );
    expect(stderr).toContain(`iconv -f ${encoding.toUpperCase()} -t UTF-8 'note file.json'`);
    expect(server.received).toHaveLength(before);
  });

  it.each(ENCODINGS)('is refused from stdin: %s', async (_name, stdin, encoding) => {
    const argvs = [
      ['rooms', 'update', 'demo', '--metadata', '-'],
      ['vocabulary', 'set', 'names', '-'],
      ['webhooks', 'create', 'https://example.org/', '--secret-stdin'],
      ['profile', 'add', 'one', '--url', server.url, '--api-key', 'k', '--secret-stdin'],
      ['rooms', 'list', '--api-secret-file', '-'],
      ['cf', 'generate', '-'],
    ];
    for (const argv of argvs) {
      const { code, stderr } = await rtc(argv, { stdin });
      expect([argv[0], code]).toEqual([argv[0], 2]);
      expect(stderr).toContain(`stdin is not UTF-8; it looks like ${encoding}`);
    }
  });

  it('is refused as the output of a secret command, and in a file of profiles', async () => {
    const line = ['profile', 'add', 'one', '--url', server.url, '--api-key', 'k'];
    await rtc([...line, '--secret-command', "printf 'perch\\350'"]);
    const env = { RTC_API_KEY: '', RTC_API_SECRET: '', PATH: process.env.PATH ?? '' };
    const listed = await rtc(['rooms', 'list', '--profile', 'one'], { env });
    expect([listed.code, listed.stderr]).toEqual([
      2,
      expect.stringContaining('the secret command is not UTF-8'),
    ]);
    await writeFile(join(folder, 'rtc', 'config.json'), Buffer.from('{"current":"perchè"}', 'latin1'));
    const profiles = await rtc(['profile', 'list']);
    expect(profiles.stderr).toContain('config.json is not UTF-8');
  });

  it('is reported for a line of people, whose code would be another one', async () => {
    const person = { surname: 'Niccolò', name: 'Ada', gender: 'F', date: '1990-01-01', city: 'Roma' };
    const lines = `${JSON.stringify({ ...person, surname: 'Rossi' })}\n${JSON.stringify(person)}\n`;
    const stdin = Buffer.from(lines, 'latin1');
    const { code, stdout, stderr } = await rtc(['cf', 'generate', '-', '--ndjson'], { stdin });
    expect(code).toBe(7);
    expect(stdout).toMatch(/^RSS/);
    expect(stderr).toContain('line 2: encoding: this line is not UTF-8');
  });
});

describe('a byte order mark', () => {
  it('is left out of a text, of JSON and of a secret', async () => {
    const stdin = '\ufeff{"note":"caffè"}';
    await rtc(['rooms', 'update', 'demo', '--metadata', '-'], { stdin });
    expect(JSON.parse(server.received.at(-1)?.body ?? '')).toEqual({ metadata: '{"note":"caffè"}' });
    await rtc(['webhooks', 'create', 'https://example.org/', '--secret-stdin'], {
      stdin: '\ufeffa secret\n',
    });
    expect(JSON.parse(server.received.at(-1)?.body ?? '')).toMatchObject({ secret: 'a secret' });
  });

  it('is left out before the first line of codes and of people', async () => {
    const codes = await rtc(['cf', 'check', '-'], { stdin: '\ufeffRSSMRA85T10A562S\n' });
    expect(codes.code, codes.stderr).toBe(0);
    const person = '{"surname":"Rossi","name":"Ada","gender":"F","date":"1990-01-01","city":"Roma"}\n';
    const people = await rtc(['cf', 'generate', '-', '--ndjson'], { stdin: `\ufeff${person}` });
    expect([people.code, people.stdout], people.stderr).toEqual([0, expect.stringMatching(/^RSS/)]);
  });
});

describe('a secret', () => {
  it.each([
    ['a\r', 'must not contain a line end or another control character'],
    ['a\nb', 'must not contain a line end or another control character'],
    [' a', 'must not begin or end with a blank'],
    ['a \r\n', 'must not begin or end with a blank'],
    ['"a"\n', 'must not be in quotes'],
    ["'a'", 'must not be in quotes'],
  ])('is refused with what was copied with it, whose name is told: %j', async (stdin, fault) => {
    await writeFile(join(folder, 'secret'), stdin);
    const sources: readonly (readonly [source: string, argv: readonly string[], options: RunOptions])[] = [
      ['stdin', ['webhooks', 'create', 'https://example.org/', '--secret-stdin'], { stdin }],
      ['stdin', ['rooms', 'list', '--api-secret-file', '-'], { stdin }],
      ['secret', ['rooms', 'list', '--api-secret-file', 'secret'], {}],
      ['RTC_API_SECRET', ['rooms', 'list'], { env: { RTC_API_SECRET: stdin.replace(/\r?\n$/, '') } }],
    ];
    const before = server.received.length;
    for (const [source, argv, options] of sources) {
      const { code, stderr } = await rtc(argv, options);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`the secret in ${source} ${fault}`)]);
    }
    expect(server.received).toHaveLength(before);
  });

  it('may have one line end after it', async () => {
    for (const stdin of ['a', 'a\n', 'a\r\n']) {
      await rtc(['webhooks', 'create', 'https://example.org/', '--secret-stdin'], { stdin });
      expect(JSON.parse(server.received.at(-1)?.body ?? '')).toMatchObject({ secret: 'a' });
    }
  });
});

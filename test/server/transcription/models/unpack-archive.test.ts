import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpackArchive } from '../../../../src/server/transcription/models/unpack-archive.ts';
import { type ArchiveEntry, cutFile, makeArchive } from './archives.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-archive-'));
  await mkdir(join(folder, 'out'));
});
afterEach(() => rm(folder, { recursive: true }));

const archive = () => join(folder, 'model.tar.bz2');
const out = (path = '') => join(folder, 'out', path);
const unpack = () => unpackArchive(archive(), { folder: out(), signal: new AbortController().signal });

describe('unpackArchive', () => {
  it('unpacks files and folders without the outermost folder', async () => {
    const long = `${'x'.repeat(120)}.onnx`;
    const large = randomBytes(300_000).toString('hex');
    makeArchive(archive(), [
      { path: 'model/tokens.txt', text: 'a 0\n' },
      { path: 'model/test_wavs/it.wav', text: large },
      { path: `model/${long}`, text: 'long' },
      { path: 'model/._tokens.txt', text: 'of macOS' },
      { path: 'model/empty', text: '' },
    ]);
    await unpack();
    expect((await readdir(out(), { recursive: true })).toSorted()).toEqual(
      ['empty', 'test_wavs', 'test_wavs/it.wav', 'tokens.txt', long].toSorted(),
    );
    expect(await readFile(out('test_wavs/it.wav'), 'utf8')).toBe(large);
    expect(await readFile(out(long), 'utf8')).toBe('long');
  });

  it.each<[string, ArchiveEntry]>([
    ['a path that leaves the folder', { path: 'model/../../outside', text: 'x' }],
    ['an absolute path', { path: '/outside', text: 'x' }],
    ['a path of Windows', { path: 'C:\\outside', text: 'x' }],
    ['a link', { path: 'model/link', linkTo: '/etc/passwd' }],
  ])('rejects %s', async (_case, entry) => {
    makeArchive(archive(), [entry]);
    await expect(unpack()).rejects.toThrow(/unsafe path|not a regular file/);
    expect(existsSync(join(folder, 'outside'))).toBe(false);
  });

  it('rejects a path that occurs twice', async () => {
    const entry = { path: 'model/a', text: 'x' };
    makeArchive(archive(), [entry, entry]);
    await expect(unpack()).rejects.toThrow('EEXIST');
  });

  it('reports a damaged archive when it is cut off, or no archive at all', async () => {
    makeArchive(archive(), [{ path: 'model/a', text: randomBytes(200_000).toString('hex') }]);
    cutFile(archive(), await readFile(archive()), 0.5);
    await expect(unpack()).rejects.toThrow(/damaged|cut off/);
    await rm(out(), { recursive: true });
    await mkdir(out());
    await writeFile(archive(), '<html>Not found</html>');
    await expect(unpack()).rejects.toThrow('The archive is damaged');
  });
});

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
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

/** Writes an archive of a few hundred bytes that unpacks to 32 MiB. */
const BOMB = `
import bz2, sys, tarfile
zeros = bytes(32 * 1024 * 1024)
def header(path, kind, size=len(zeros)):
    info = tarfile.TarInfo(path)
    info.type, info.size = kind, size
    return info.tobuf()
open(sys.argv[1], 'wb').write(bz2.compress(eval(sys.argv[2])))
`;

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

  it.each<[string, string]>([
    ['in a file', "header('model/a', b'0') + zeros"],
    ['in the content of a folder', "header('model/a', b'5') + zeros"],
    ['in a file that is skipped', "header('model/._a', b'0') + zeros"],
    ['after the end', "header('model/a', b'0', 0) + zeros"],
  ])('reads no more bytes than a model has, %s', async (_case, bytes) => {
    execFileSync('python3', ['-c', BOMB, archive(), bytes]);
    const most = { mostBytes: 1_000_000, signal: new AbortController().signal };
    await expect(unpackArchive(archive(), { folder: out(), ...most })).rejects.toThrow(
      'more bytes than the model',
    );
    const sizes = (await readdir(out())).map((name) => statSync(out(name)).size);
    expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(1_000_000);
  });

  it('rejects a path that occurs twice', async () => {
    const entry = { path: 'model/a', text: 'x' };
    makeArchive(archive(), [entry, entry]);
    await expect(unpack()).rejects.toThrow('EEXIST');
  });

  it('rejects with the cancellation while it is unpacking, and leaves no rejection behind', async () => {
    const path = (index: number) => `model/${index}.bin`;
    const text = randomBytes(300_000).toString('hex');
    makeArchive(
      archive(),
      [1, 2, 3].map((index) => ({ path: path(index), text })),
    );
    const stop = new AbortController();
    const allows = () => {
      stop.abort(new Error('cancelled'));
      return true;
    };
    await expect(unpackArchive(archive(), { folder: out(), allows, signal: stop.signal })).rejects.toThrow(
      'cancelled',
    );
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

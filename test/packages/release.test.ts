import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkSizes } from '../../scripts/release/budgets.ts';
import { readRelease } from '../../scripts/release/notes.ts';

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Something new.

## 1.2.3 - 2026-01-31

- Something old.
`;

describe('the notes of a release', () => {
  it('are the section of the version, or the unreleased one', () => {
    expect(readRelease('1.2.3', CHANGELOG)).toEqual({ version: '1.2.3', notes: '- Something old.' });
    expect(readRelease('1.3.0', CHANGELOG).notes).toBe('### Added\n\n- Something new.');
  });

  it('must exist, for a version that npm accepts', () => {
    expect(() => readRelease('1.3.0', '# Changelog\n\n## Unreleased\n')).toThrow('says nothing about 1.3.0');
    expect(() => readRelease('1.3', CHANGELOG)).toThrow('no semantic version');
  });
});

describe('the sizes of a release', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-sizes-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function makeFile(name: string, bytes: number): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, '');
    await truncate(path, bytes);
    return path;
  }

  it('are compared with their budgets', async () => {
    const paths = [
      await makeFile('rtc-service-1.0.0.tgz', 4_000_000),
      await makeFile('rtc-service-client-1.0.0.tgz', 50_000),
      await makeFile('NOTES.md', 9_000_000),
    ];
    expect(await checkSizes(paths)).toEqual([
      { name: 'rtc-service-1.0.0.tgz', megabytes: 4, budget: 5 },
      { name: 'rtc-service-client-1.0.0.tgz', megabytes: 0.05, budget: 0.2 },
      { name: 'NOTES.md', megabytes: 9, budget: undefined },
    ]);
  });

  it('name the file that exceeds its budget', async () => {
    const path = await makeFile('rtc-1.0.0-linux-x64.tar.gz', 60_000_001);
    await expect(checkSizes([path])).rejects.toThrow(
      'rtc-1.0.0-linux-x64.tar.gz has 60.00 MB, and may have 60',
    );
  });
});

import { existsSync } from 'node:fs';

/** Debian's folders of the library, by Node's name of the processor. */
const FOLDERS: Readonly<Record<string, string>> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
};
const LIBRARY = `${FOLDERS[process.arch] ?? '/usr/lib'}/faketime/libfaketime.so.1`;

export function isFaketimeInstalled(): boolean {
  return existsSync(LIBRARY);
}

/**
 * Returns the environment of a process whose time of day is off by what the file says, in seconds with a sign. A change of the
 * file counts within a second. Its monotonic clock is right.
 */
export function fakeClockFrom(path: string): Readonly<Record<string, string>> {
  return {
    ...{ LD_PRELOAD: LIBRARY, FAKETIME_TIMESTAMP_FILE: path, FAKETIME_CACHE_DURATION: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** Returns the environment of a process whose time of day is off by `seconds`. Its monotonic clock is right. */
export function fakeClock(seconds: number): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: LIBRARY,
    FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

import { existsSync } from 'node:fs';

/** Where Debian has the library, by the name that Node gives to the processor. */
const FOLDERS: Readonly<Record<string, string>> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
};
const LIBRARY = `${FOLDERS[process.arch] ?? '/usr/lib'}/faketime/libfaketime.so.1`;

export function isFaketimeThere(): boolean {
  return existsSync(LIBRARY);
}

/** The environment of a process whose time of day is off; its monotonic clock goes on as the machine's does. */
export function fakeClock(seconds: number): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: LIBRARY,
    FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

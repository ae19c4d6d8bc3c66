import type { Log } from '../../src/server/platform/log.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

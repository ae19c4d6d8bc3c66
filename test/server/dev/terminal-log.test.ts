import { describe, expect, it } from 'vitest';
import { createTerminalLog } from '../../../src/server/dev.ts';

function logAt(level: string) {
  const lines: string[] = [];
  const log = createTerminalLog({ level, write: (line) => void lines.push(line), time: () => '09:30:00' });
  return { log, lines };
}

describe('the log on a terminal', () => {
  it('has a line for each request', () => {
    const { log, lines } = logAt('info');
    const request = { requestId: 'r1', method: 'GET', route: '/v1/rooms', status: 200, durationMs: 3.4 };
    log.info(request, 'request completed');
    expect(lines).toEqual(['09:30:00  GET    200     3 ms  /v1/rooms\n']);
  });

  it('has other messages in words, with their fields and the error', () => {
    const { log, lines } = logAt('info');
    log.warn({ code: 'x', err: new Error('no connection') }, 'a call failed');
    log.info({}, 'listening');
    expect(lines).toEqual([
      '09:30:00  warn: a call failed: no connection code="x"\n',
      '09:30:00  listening\n',
    ]);
  });

  it('leaves out what is below its level', () => {
    for (const [level, count] of [
      ['debug', 2],
      ['info', 1],
      ['warn', 0],
      ['silent', 0],
    ] as const) {
      const { log, lines } = logAt(level);
      log.debug({}, 'a');
      log.info({}, 'b');
      expect(lines).toHaveLength(count);
    }
  });

  it('escapes control characters', () => {
    const { log, lines } = logAt('info');
    log.error({ err: new Error('a\u001b[2Jb\u202ec\n') }, 'bad');
    expect(lines).toEqual(['09:30:00  error: bad: a?[2Jb?c?\n']);
  });
});

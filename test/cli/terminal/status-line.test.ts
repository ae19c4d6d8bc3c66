import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createStatusLine } from '../../../src/cli/terminal/status-line.ts';

function stream(terminal: { readonly isTTY?: boolean; readonly columns?: number }) {
  const through = new PassThrough();
  through.setEncoding('utf8');
  return Object.assign(through, terminal);
}

describe('the status line', () => {
  it('is one line that is overwritten on a terminal, cut to its width, and removed at the end', () => {
    const stderr = stream({ isTTY: true, columns: 10 });
    const line = createStatusLine({ stderr, clock: () => 0 });
    line.show('1 module');
    line.show('12 modules, 3 packages');
    line.clear();
    line.clear();
    expect(stderr.read()).toBe('\r\x1b[K1 module\r\x1b[K12 module\r\x1b[K');
  });

  it('is one line every 15 seconds elsewhere, of hundreds of texts', () => {
    let nowMs = 0;
    const stderr = stream({});
    const line = createStatusLine({ stderr, clock: () => nowMs });
    for (let count = 0; count <= 600; count += 1) {
      nowMs = count * 50;
      line.show(`${count} packages`);
    }
    line.clear();
    expect(stderr.read()).toBe('300 packages\n600 packages\n');
  });
});

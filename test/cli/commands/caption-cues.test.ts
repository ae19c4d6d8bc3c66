import { describe, expect, it } from 'vitest';
import { withoutOverlap } from '../../../src/cli/commands/recordings/add-captions.ts';

const srt = (...cues: readonly (readonly [string, string, string])[]): string =>
  cues.map(([from, to, text], index) => `${index + 1}\n${from} --> ${to}\n${text}\n`).join('\n');

describe('captions for a file', () => {
  it('stay as they are where nobody speaks at the same time', () => {
    const text = srt(
      ['00:00:01,000', '00:00:02,500', 'Ada: Good morning.'],
      ['00:00:02,500', '00:00:03,000', 'Bob: Two\nlines 1 --> 2'],
      ['01:02:03,004', '01:02:04,999', 'Ada: Late.'],
    );
    expect(withoutOverlap(text)).toBe(text);
  });

  it('have the lines of all who speak at once', () => {
    const text = srt(
      ['00:00:22,934', '00:00:25,000', 'Eve: One.'],
      ['00:00:23,075', '00:00:27,800', 'Bob: Two.'],
      ['00:00:25,149', '00:00:28,797', 'Eve: Three.'],
    );
    expect(withoutOverlap(text)).toBe(
      srt(
        ['00:00:22,934', '00:00:23,075', 'Eve: One.'],
        ['00:00:23,075', '00:00:25,000', 'Eve: One.\nBob: Two.'],
        ['00:00:25,000', '00:00:25,149', 'Bob: Two.'],
        ['00:00:25,149', '00:00:27,800', 'Bob: Two.\nEve: Three.'],
        ['00:00:27,800', '00:00:28,797', 'Eve: Three.'],
      ),
    );
  });

  it('are empty when nothing was said', () => {
    expect(withoutOverlap('')).toBe('');
  });
});

import { describe, expect, it } from 'vitest';
import { recordingPath } from '../../../src/server/recordings/recording-path.ts';

const AT = Date.UTC(2026, 0, 31, 9, 30);
const TIME = '2026-01-31T09-30-00.000Z';
const readName = (room: string): string => recordingPath('{room}/x.mp4', room, AT).replace('/x.mp4', '');

describe('the path of a recording', () => {
  it('is the template with the room and the time', () => {
    expect(recordingPath('a/{room}/{time}-{room}.mp4', 'demo', AT)).toBe(`a/demo/${TIME}-demo.mp4`);
  });

  it('stays inside its folder whatever the name of the room', () => {
    expect(readName('../../etc/x')).toBe('..%2F..%2Fetc%2Fx');
    expect(readName('..')).toBe('%2E%2E');
    expect(readName('{time}')).toBe('%7Btime%7D');
    expect(readName('caffè 🎥')).toBe('caff%C3%A8%20%F0%9F%8E%A5');
  });

  it('contains a name of 160 characters unchanged, and shortens one of 161', () => {
    expect(readName('a'.repeat(160))).toBe('a'.repeat(160));
    expect(readName('a'.repeat(161))).toMatch(/^a{143}-[0-9a-f]{16}$/);
  });

  it('is never longer than a file system allows, and never cut inside an encoded character', () => {
    for (const letter of ['日', 'é', '🎥']) {
      for (const prefix of ['', 'x', 'xx']) {
        const name = readName(prefix + letter.repeat(60));
        expect(name.length).toBeLessThanOrEqual(160);
        expect(name).toMatch(/^x*(%[0-9A-F]{2})+-[0-9a-f]{16}$/);
      }
    }
  });

  it('differs for rooms whose names differ only after the cut', () => {
    const long = '日'.repeat(80);
    expect(readName(`${long}1`)).not.toBe(readName(`${long}2`));
  });
});

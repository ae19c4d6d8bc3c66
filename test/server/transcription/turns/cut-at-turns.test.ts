import { describe, expect, it } from 'vitest';
import {
  cutAtTurns,
  measureOverlap,
  type TurnSpan,
} from '../../../../src/server/transcription/turns/cut-at-turns.ts';

const turn = (trackId: string, from: number, to: number): TurnSpan => ({ trackId, from, to });
const speech = { from: 0, to: 10_000 };

describe('a stretch of speech', () => {
  it('stays whole when one person speaks', () => {
    expect(cutAtTurns(speech, [turn('ada', 200, 9_900)])).toEqual([
      { trackId: 'ada', cut: { from: 10_000, to: 10_000 } },
    ]);
  });

  it('is cut between two turns, anywhere in the pause', () => {
    expect(cutAtTurns(speech, [turn('ada', 0, 4_000), turn('bob', 4_250, 10_000)])).toEqual([
      { trackId: 'ada', cut: { from: 4_000, to: 4_250 } },
      { trackId: 'bob', cut: { from: 10_000, to: 10_000 } },
    ]);
  });

  it('is cut where two turns overlap', () => {
    expect(cutAtTurns(speech, [turn('ada', 0, 4_500), turn('bob', 4_000, 10_000)])).toEqual([
      { trackId: 'ada', cut: { from: 4_000, to: 4_500 } },
      { trackId: 'bob', cut: { from: 10_000, to: 10_000 } },
    ]);
  });

  it('stays whole when somebody says a word in the meantime', () => {
    const turns = [turn('ada', 0, 10_000), turn('bob', 3_000, 3_600)];
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual(['ada']);
  });

  it('gives a short answer in a pause a part of its own', () => {
    const turns = [turn('ada', 0, 4_000), turn('bob', 4_100, 4_500), turn('ada', 4_600, 10_000)];
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual(['ada', 'bob', 'ada']);
  });

  it('is not cut for a tenth of a second, by which the detectors differ', () => {
    const turns = [turn('ada', 0, 4_000), turn('bob', 4_000, 4_100), turn('ada', 4_100, 10_000)];
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual(['ada']);
  });

  it('follows five people one after the other', () => {
    const turns = ['a', 'b', 'c', 'd', 'e'].map((name, index) =>
      turn(name, index * 2_000, index * 2_000 + 1_900),
    );
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('that is just beside a turn belongs to it', () => {
    const turns = [turn('ada', -3_000, -200), turn('bob', 10_400, 12_000)];
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual(['ada']);
  });

  it('has no speaker when nobody spoke', () => {
    const turns = [turn('ada', -9_000, -2_000), turn('bob', 12_000, 15_000)];
    expect(cutAtTurns(speech, turns).map(({ trackId }) => trackId)).toEqual([undefined]);
    expect(cutAtTurns(speech, []).map(({ trackId }) => trackId)).toEqual([undefined]);
  });
});

describe('the overlap of a stretch of speech', () => {
  it('is the time in which two or more speak', () => {
    const turns = [
      turn('a', -1_000, 4_000),
      turn('b', 3_000, 6_000),
      turn('c', 3_500, 7_000),
      turn('d', 9_000, 9_500),
    ];
    expect(measureOverlap(speech, turns)).toBe(3_000);
  });

  it('excludes turns of the same track, which are reported in pieces', () => {
    expect(measureOverlap(speech, [turn('a', 0, 5_000), turn('a', 4_900, 8_000)])).toBe(0);
  });
});

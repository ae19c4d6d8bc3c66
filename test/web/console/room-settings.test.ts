import { describe, expect, it } from 'vitest';
import type { PlanSettings } from '../../../src/contract/plans.ts';
import { readSettings, toSettingsDraft, writeOptions } from '../../../src/web/console/plans/room-settings.ts';

const EVERYTHING: PlanSettings = {
  opensAt: '2026-02-01T08:00:00.000Z',
  closesAt: '2026-02-01T09:00:00.000Z',
  maxDuration: 3600,
  soloTimeout: 600,
  earlyJoin: 300,
  emptyTimeout: 90,
  closingWarnings: [300, 60],
  maxParticipants: 20,
  lobby: true,
  roles: ['host'],
  record: {
    at: 'role:host',
    layout: 'speaker',
    preset: 'H264_1080P_30',
    audioOnly: true,
    recordTracks: true,
  },
  transcribe: {
    at: 'firstPublish',
    options: { partialResults: true, captions: false, punctuation: false, profanityFilter: true },
    participants: { ada: 'Ada Lovelace' },
  },
  vocabulary: ['Babbage', 'engine'],
  language: 'it-IT',
  metadata: '{"lesson":7}',
};

describe('what is planned for a room, in the fields of a dialog', () => {
  it('keeps every setting', () => {
    expect(readSettings(toSettingsDraft(EVERYTHING), EVERYTHING)).toEqual(EVERYTHING);
  });

  it('plans nothing with empty fields', () => {
    expect(readSettings(toSettingsDraft({}))).toEqual({});
    expect(writeOptions({})).toEqual([...Array(7).fill(undefined)]);
  });

  it('starts at the first join what has no other time', () => {
    const draft = toSettingsDraft({ record: {}, transcribe: {} });
    expect(readSettings(draft)).toEqual({ record: { at: 'firstJoin' }, transcribe: { at: 'firstJoin' } });
  });

  it('keeps that there are no warnings, and that there is no lobby', () => {
    const before: PlanSettings = { closingWarnings: [], lobby: false };
    expect(readSettings(toSettingsDraft(before), before)).toEqual(before);
  });

  it('is written as the options of the command', () => {
    const options = writeOptions(EVERYTHING).filter((word) => word !== undefined);
    expect(options.join(' ')).toBe(
      '--opens-at 2026-02-01T08:00:00.000Z --early-join 300s --closes-at 2026-02-01T09:00:00.000Z --max-duration 3600s --solo-timeout 600s --empty-timeout 90s --closing-warnings 300s,60s --max-participants 20 --roles host --record role:host --layout speaker --preset H264_1080P_30 --transcribe firstPublish --language it-IT --metadata {"lesson":7} --term Babbage --term engine --speaker ada=Ada Lovelace --lobby --audio-only --record-tracks --partial-results --without-captions --without-punctuation --profanity-filter',
    );
  });
});

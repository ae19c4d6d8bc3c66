import { describe, expect, it } from 'vitest';
import {
  hasEvent,
  toDraft,
  toggleEvent,
  toUpdate,
  writeUpdateOptions,
} from '../../../src/web/console/webhooks/webhook-draft.ts';

const REGISTERED: Parameters<typeof toDraft>[0] = {
  url: 'https://example.org/hooks',
  events: ['room_closed', 'room_started'],
  ordering: 'none',
};

describe('a registered webhook in the fields of a dialog', () => {
  const before = toDraft(REGISTERED);

  it('sends no events when only the URL changes, so that each keeps its registered name', () => {
    const draft = { ...before, url: 'https://example.org/new' };
    expect(toUpdate(draft, before)).toEqual({ url: 'https://example.org/new', ordering: 'none' });
    expect(writeUpdateOptions(draft, before)).toEqual(['--unordered']);
  });

  it('ticks the event of an alias, and keeps the alias when another event is added', () => {
    expect(hasEvent(before.events, 'room_finished')).toBe(true);
    const draft = { ...before, events: toggleEvent(before.events, 'track_published') };
    const events = ['room_closed', 'room_started', 'track_published'];
    expect(toUpdate(draft, before).events).toEqual(events);
    expect(writeUpdateOptions(draft, before)).toEqual(['--events', events.join(','), '--unordered']);
  });

  it('removes an event under whichever names it is registered', () => {
    expect(toggleEvent(['room_closed', 'room_finished', 'room_started'], 'room_finished')).toEqual([
      'room_started',
    ]);
  });

  it('registers all events when none is left, and says so in the command', () => {
    const draft = { ...before, events: [], ordering: 'room' } as const;
    expect(toUpdate(draft, before).events).toEqual(['*']);
    expect(writeUpdateOptions(draft, before)).toEqual(['--events', '*', '--ordered']);
  });

  it('ticks no event of a webhook that gets all of them', () => {
    expect(toDraft({ ...REGISTERED, events: ['*', 'room_closed'] }).events).toEqual([]);
  });
});

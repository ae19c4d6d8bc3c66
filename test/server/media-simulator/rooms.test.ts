import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ManualServer, startManualServer } from './manual-server.ts';

let manual: ManualServer;
beforeEach(async () => {
  manual = await startManualServer();
});
afterEach(() => manual.close());

async function isOpen(room: string): Promise<boolean> {
  return (await manual.server.listRooms([room])).length === 1;
}

describe('a room that nobody has joined', () => {
  it('closes at its empty timeout and not a millisecond before', async () => {
    await manual.server.createRoom({ name: 'demo', emptyTimeout: 60, departureTimeout: 1 });
    await manual.clock.advance(59_999);
    expect(await isOpen('demo')).toBe(true);
    await manual.clock.advance(1);
    expect(await isOpen('demo')).toBe(false);
  });

  it('closes after 300 s without settings', async () => {
    await manual.server.createRoom({ name: 'demo' });
    await manual.clock.advance(299_999);
    expect(await isOpen('demo')).toBe(true);
    await manual.clock.advance(1);
    expect(await isOpen('demo')).toBe(false);
  });

  it('closes although an agent is in it', async () => {
    await manual.server.createRoom({ name: 'demo', emptyTimeout: 60 });
    manual.control.join('demo', { identity: 'agent', kind: 'AGENT' });
    await manual.clock.advance(60_000);
    expect(await isOpen('demo')).toBe(false);
  });

  it('is a new room when it is created again', async () => {
    const first = await manual.server.createRoom({ name: 'demo', emptyTimeout: 60 });
    await manual.clock.advance(60_000);
    const second = await manual.server.createRoom({ name: 'demo', emptyTimeout: 60 });
    expect(second.sid).not.toBe(first.sid);
  });
});

describe('a room that somebody has joined', () => {
  beforeEach(async () => {
    await manual.server.createRoom({ name: 'demo', emptyTimeout: 5, departureTimeout: 20 });
    manual.control.join('demo', { identity: 'ada' });
  });

  it('stays open while somebody is in it', async () => {
    await manual.clock.advance(1_000_000);
    expect(await isOpen('demo')).toBe(true);
  });

  it('closes at its departure timeout after the last leave and not a millisecond before', async () => {
    manual.control.join('demo', { identity: 'bob' });
    manual.control.leave('demo', 'ada');
    await manual.clock.advance(100_000);
    manual.control.leave('demo', 'bob');
    await manual.clock.advance(19_999);
    expect(await isOpen('demo')).toBe(true);
    await manual.clock.advance(1);
    expect(await isOpen('demo')).toBe(false);
  });

  it('stays open when somebody returns in time, and starts the timeout again with the next leave', async () => {
    manual.control.leave('demo', 'ada');
    await manual.clock.advance(19_999);
    manual.control.join('demo', { identity: 'ada' });
    await manual.clock.advance(100_000);
    manual.control.leave('demo', 'ada');
    await manual.clock.advance(19_999);
    expect(await isOpen('demo')).toBe(true);
  });

  it('rejects the participant above its limit but no agent', async () => {
    await manual.server.createRoom({ name: 'small', maxParticipants: 1 });
    manual.control.join('small', { identity: 'ada' });
    expect(() => manual.control.join('small', { identity: 'bob' })).toThrow('the room "small" has its 1');
    manual.control.join('small', { identity: 'agent', agent: true });
    expect(await manual.server.listParticipants('small')).toHaveLength(2);
  });

  it('has counts with up to five seconds of delay', async () => {
    const count = async () => (await manual.server.listRooms(['demo']))[0]?.numParticipants;
    await manual.clock.advance(4_999);
    expect(await count()).toBe(0);
    await manual.clock.advance(1);
    expect(await count()).toBe(1);
  });
});

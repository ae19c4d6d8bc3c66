import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RtcClient } from '../../../src/client/client.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

describe('rtc usage', () => {
  let stack: Stack;
  let client: RtcClient;

  beforeAll(async () => {
    stack = await startStack();
    client = new RtcClient(stack.service);
    for (const room of ['lesson-1', '=sum(1)']) {
      await client.rooms.create({ name: room });
      await stack.media.control.join(room, { identity: 'ada' });
    }
    const isCounted = async () => (await client.usage.get({ by: 'room' })).usage.length;
    await vi.waitUntil(async () => (await isCounted()) === 2, { timeout: 60_000 });
  });

  afterAll(async () => {
    await client?.close();
    await stack?.close();
  });

  it('adds up by room, and says until when', async () => {
    const { code, stdout, stderr } = await run(['usage', '--by', 'room'], {
      env: stack.environment,
      terminals: ['stdout', 'stderr'],
    });
    expect(code).toBe(0);
    expect(stripVTControlCharacters(stdout)).toMatch(/ROOM .*PARTICIPANT-MINUTES/);
    expect(stdout).toContain('lesson-1');
    expect(stdout + stderr).toMatch(/participant minutes in all, until \d{4}-/);
  });

  it('prints CSV with the minutes of each role, in which no name is a formula', async () => {
    const { stdout } = await run(['usage', '--by', 'room', '--csv'], { env: stack.environment });
    const [head, first] = stdout.split(/\r?\n/);
    expect(head).toContain('host_role_minutes');
    expect(first).not.toMatch(/^=/);
  });

  it('has the same total with a page of all groups and with one of them', async () => {
    for (const room of ['lesson-1', '=sum(1)']) await client.rooms.delete(room);
    const events = async () => (await client.events.list({ types: ['room_finished'] })).events;
    await vi.waitUntil(async () => (await events()).length === 2, { timeout: 60_000 });
    const whole = await client.usage.get({ by: 'room' });
    const first = await client.usage.get({ by: 'room', limit: 1 });
    expect([whole.usage.length, first.usage.length]).toEqual([2, 1]);
    expect(first.total).toEqual(whole.total);
    expect(whole.total).toMatchObject({ peakParticipants: 1, isFinal: false });
  });

  it.each([
    [['usage', '--from', '2026-02-30'], 'is no day'],
    [['usage', '--csv', '--json'], 'exclude each other'],
    [['usage', '--from', '2026-02-01', '--to', '2026-01-01'], 'to'],
  ])('refuses %j', async (words, said) => {
    const { code, stderr } = await run(words, { env: stack.environment });
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});

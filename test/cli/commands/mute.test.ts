import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let number = 0;
let room: string;
let microphone: string;
let camera: string;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());
beforeEach(() => {
  number += 1;
  room = `room-${number}`;
  const { control } = stack.media;
  for (const identity of ['ada', 'bob']) control.join(room, { identity });
  microphone = control.publish(room, 'ada').sid;
  camera = control.publish(room, 'ada', { type: 'VIDEO' }).sid;
  control.publish(room, 'bob');
});

const rtc = (line: string): Promise<Run> => run(line.split(' '), { env: stack.environment });

describe('rooms mute', () => {
  it('mutes everyone except the given participants, and lists them', async () => {
    const { code, stdout } = await rtc(`rooms mute ${room} --except bob --source microphone --source camera`);
    expect([code, stdout]).toEqual([0, `ada\t${microphone}\nada\t${camera}\n`]);
    expect(await rtc(`rooms mute ${room} --except bob`)).toMatchObject({ code: 0, stdout: '' });
  });

  it('refuses an unknown source', async () => {
    const { code, stderr } = await rtc(`rooms mute ${room} --source mic`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('not one of microphone')]);
  });
});

describe('participants mute', () => {
  it('mutes the tracks of a source', async () => {
    const { code, stderr } = await rtc(`participants mute ${room} ada --source camera`);
    expect([code, stderr]).toEqual([0, `Muted ${camera} of ada.\n`]);
    const again = await rtc(`participants mute ${room} ada --source camera`);
    expect(again).toMatchObject({ code: 0, stderr: 'ada publishes no camera that is not muted.\n' });
    expect((await rtc(`participants mute ${room} ada --source camera --all`)).code).toBe(2);
  });

  it('cannot be undone by others when the media server does not allow it', async () => {
    await rtc(`participants mute ${room} ada --all`);
    const { code, stderr } = await rtc(`participants unmute ${room} ada --source microphone`);
    expect([code, stderr]).toEqual([5, expect.stringContaining('room.enable_remote_unmute')]);
  });

  it('can be undone by others when the media server allows it', async () => {
    const open = await startStack({ enableRemoteUnmute: true });
    try {
      open.media.control.join('demo', { identity: 'ada' });
      const { sid } = open.media.control.publish('demo', 'ada');
      const on = (line: string) => run(line.split(' '), { env: open.environment });
      await on('participants mute demo ada');
      const unmuted = await on('participants unmute demo ada');
      expect([unmuted.code, unmuted.stderr]).toEqual([0, `Unmuted ${sid} of ada.\n`]);
    } finally {
      await open.close();
    }
  });
});

import { afterEach, expect, it } from 'vitest';
import type { Participant } from '../../../src/contract/participants.ts';
import { sweepWaitingRooms } from '../../../src/server/plans/waiting.ts';
import { toWaitingAttributes, waitingRoomName } from '../../../src/server/rooms/waiting-room.ts';
import { NOW, openEventStage } from '../media-events/support/event-stage.ts';

const PLAN = {
  ...{ id: 'lessons', subject: 'prefix:', settings: JSON.stringify({ lobby: true }), createdBy: '' },
  ...{ createdAt: NOW, updatedAt: NOW, deletedAt: null },
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function waiting(identity: string): Participant {
  const person = { room: 'demo', identity, name: identity, role: 'participant', ttl: 600 } as const;
  const attributes = toWaitingAttributes({ id: `token of ${identity}`, person, expiresAt: NOW / 1000 + 600 });
  return { sid: `PA_${identity}`, identity, attributes, joinedAt: NOW / 1000 } as unknown as Participant;
}

it('tells of everybody who waits, although looking after one of them fails', async () => {
  const { deps, storedEvents, close } = await openEventStage();
  closers.push(close);
  const warnings: unknown[] = [];
  const unused = () => Promise.reject(new Error('is not called'));
  await sweepWaitingRooms(
    {
      ...deps,
      findNamedPlan: async () => PLAN,
      findBlock: ({ identity }) => {
        if (identity === 'ada') throw new Error('the database was away');
        return undefined;
      },
      mediaServer: {
        listParticipants: async () => ['ada', 'bob', 'eve'].map(waiting),
        ...{ listRooms: unused, getParticipant: unused, removeParticipant: unused, sendData: unused },
      },
      log: { debug() {}, info() {}, error() {}, warn: (fields: unknown) => warnings.push(fields) },
    },
    [{ name: waitingRoomName('demo') }],
  );
  const told = (await storedEvents()).map(({ event, participant }) => `${event} ${participant?.identity}`);
  expect(told.toSorted()).toEqual(['participant_waiting bob', 'participant_waiting eve']);
  expect(warnings).toEqual([{ err: new Error('the database was away') }]);
});

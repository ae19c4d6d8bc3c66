import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { observeRecording } from '../../support/observe-recording.ts';
import {
  type EventStage,
  joined,
  left,
  mediaEvent,
  NOW,
  openEventStage,
  person,
} from './support/event-stage.ts';

let stage: EventStage;
beforeEach(async () => {
  stage = await openEventStage();
});
afterEach(() => stage.close());

const OPENED = 'room_created 0';
const at = (ms: number) => new Date(ms).toISOString();

describe('a room', () => {
  it('is created when the media server creates it, and started by its first participant', async () => {
    await stage.receive(mediaEvent('room_started'));
    expect(await stage.summary()).toEqual([OPENED]);
    await stage.receive(joined('ada1'));
    await stage.receive(joined('bob1'));
    expect(await stage.summary()).toEqual([
      OPENED,
      'room_started 1',
      'participant_joined ada 1',
      'participant_joined bob 2',
    ]);
  });

  it('is reported equally in one batch and one after the other', async () => {
    await stage.receive(
      mediaEvent('room_started'),
      joined('ada1'),
      joined('bob1'),
      left('ada1'),
      left('bob1'),
    );
    expect((await stage.summary()).slice(2)).toEqual([
      'participant_joined ada 1',
      'participant_joined bob 2',
      'participant_left ada 1',
      'participant_left bob 0',
    ]);
    expect((await stage.storedEvents()).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('is finished after all of its participants have left', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('bob1'));
    await stage.receive(mediaEvent('room_finished', { createdAt: NOW + 60_000 }));
    expect((await stage.summary()).slice(4)).toEqual([
      'participant_left ada 1',
      'participant_left bob 0',
      'room_finished 0',
    ]);
    const finished = (await stage.storedEvents()).at(-1);
    expect(finished?.room).toMatchObject({ createdAt: at(NOW - 5_000), endedAt: at(NOW + 60_000) });
    expect(finished?.timestamp).toBe(at(NOW + 60_000));
  });

  it('has its end in the event of its end only', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    await stage.receive(mediaEvent('room_finished'));
    const [last, ...others] = (await stage.storedEvents()).toReversed();
    expect(last?.room).toHaveProperty('endedAt');
    expect(others.filter(({ room }) => 'endedAt' in room)).toEqual([]);
  });

  it('counts its events from 1 when it is opened again under its name', async () => {
    await stage.receive(mediaEvent('room_started'), mediaEvent('room_finished'));
    await stage.receive(mediaEvent('room_started', { sid: 'RM_2' }));
    const last = (await stage.storedEvents()).at(-1);
    expect([last?.room.id, last?.sequence]).toEqual(['RM_2', 1]);
  });

  it('is reported as created before its first participant, if that was missed', async () => {
    await stage.receive(joined('ada1'));
    expect(await stage.summary()).toEqual([
      'room_created 0 reconciled',
      'room_started 1',
      'participant_joined ada 1',
    ]);
    await stage.receive(mediaEvent('room_started'));
    expect(await stage.summary()).toHaveLength(3);
  });

  it('has its true beginning also when an event without that time arrived first', async () => {
    const track = { sid: 'TR_1' };
    await stage.receive(mediaEvent('track_published', { participant: person('ada1'), track }));
    await stage.receive(joined('ada1'));
    const createdAts = (await stage.storedEvents()).slice(1).map(({ room }) => room.createdAt);
    expect(new Set(createdAts)).toEqual(new Set([at(NOW - 5_000)]));
  });
});

describe('an event that arrives twice', () => {
  it('is stored once, with the same id or another one', async () => {
    const join = joined('ada1');
    await stage.receive(mediaEvent('room_started'), join);
    await stage.receive(join, { ...join, id: 'EV_other' }, mediaEvent('room_started'));
    await stage.receive(left('ada1'), left('ada1'));
    await stage.receive(mediaEvent('room_finished'), mediaEvent('room_finished'));
    expect(await stage.summary()).toEqual([
      OPENED,
      'room_started 1',
      'participant_joined ada 1',
      'participant_left ada 0',
      'room_finished 0',
    ]);
  });

  it('is stored once for the same track', async () => {
    const track = mediaEvent('track_published', { participant: person('ada1'), track: { sid: 'TR_1' } });
    await stage.receive(mediaEvent('room_started'), joined('ada1'), track, track);
    await stage.receive(track);
    expect((await stage.summary()).slice(3)).toEqual(['track_published ada 1']);
  });
});

describe('an event that arrives late or in another order', () => {
  it('is assigned by the sid: a `left` after the next `joined` of the same identity does no harm', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('ada2'), left('ada1'));
    expect((await stage.summary()).slice(2)).toEqual([
      'participant_joined ada 1',
      'participant_joined ada 2',
      'participant_left ada 1',
    ]);
    expect((await stage.storedEvents()).at(-1)?.participant?.sid).toBe('PA_ada1');
  });

  it('is dropped if it is a `left` without a `joined`', async () => {
    await stage.receive(mediaEvent('room_started'), left('ghost1'));
    expect(await stage.summary()).toEqual([OPENED]);
  });

  it('is reported with its pair, in order, when the `joined` arrives after the `left`', async () => {
    await stage.receive(mediaEvent('room_started'), left('ada1', { createdAt: NOW + 2_000 }));
    await stage.receive(joined('ada1'));
    expect((await stage.summary()).slice(1)).toEqual([
      'room_started 1',
      'participant_joined ada 1',
      'participant_left ada 0',
    ]);
    expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(NOW + 2_000));
  });

  it('is reported with its `left` when a `joined` arrives after the end of the room', async () => {
    await stage.receive(mediaEvent('room_started'), mediaEvent('room_finished', { createdAt: NOW + 5_000 }));
    await stage.receive(joined('ada1'));
    expect((await stage.summary()).slice(2)).toEqual([
      'room_started 1',
      'participant_joined ada 1',
      'participant_left ada 0',
    ]);
    expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(NOW + 5_000));
  });

  it('finishes a room that was unknown', async () => {
    await stage.receive(mediaEvent('room_finished'));
    expect(await stage.summary()).toEqual(['room_finished 0']);
    await stage.receive(left('ada1'));
    expect(await stage.summary()).toHaveLength(1);
  });

  it('does not open a finished room again', async () => {
    await stage.receive(mediaEvent('room_started'), mediaEvent('room_finished'), mediaEvent('room_started'));
    expect(await stage.store.presence.listOpenRooms()).toEqual([]);
  });
});

describe('the times of events', () => {
  it('in whole seconds are those of the receipt within the second', async () => {
    for (const [received, expected] of [
      [NOW - 1, NOW],
      [NOW, NOW],
      [NOW + 999, NOW + 999],
      [NOW + 1_000, NOW + 999],
      [NOW + 3_600_000, NOW + 999],
    ] as const) {
      stage.clock.advance(received - stage.clock.now());
      const sid = `RM_${received}`;
      await stage.receive(mediaEvent('room_finished', { sid }));
      expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(expected));
    }
  });

  it('are those of the receipt, however long the events wait to be stored', async () => {
    stage.clock.advance(5_000);
    await stage.receive(mediaEvent('room_finished', { receivedAt: NOW + 300 }));
    expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(NOW + 300));
  });

  it('never have a room end before somebody who left in the same second', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    await stage.receive(left('ada1', { receivedAt: NOW + 837 }));
    // Received by another instance, whose clock is behind.
    await stage.receive(mediaEvent('room_finished', { receivedAt: NOW + 831 }));
    expect((await stage.storedEvents()).at(-1)?.room.endedAt).toBe(at(NOW + 837));
    expect((await stage.store.sessions.find('RM_1', NOW))?.endedAt).toBe(NOW + 837);
  });

  it('never have a participant leave before joining', async () => {
    stage.clock.advance(-1_200);
    await stage.receive(mediaEvent('room_started'), joined('ada1', { joinedAt: NOW + 900 }));
    // Sent in the same second, and received by a clock that is behind.
    await stage.receive(left('ada1', { createdAt: NOW }));
    expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(NOW + 900));
  });

  it('never have a track published before its participant joined', async () => {
    stage.clock.advance(-1_200);
    await stage.receive(mediaEvent('room_started'), joined('ada1', { joinedAt: NOW + 900 }));
    await stage.receive(
      mediaEvent('track_published', { participant: person('ada1'), track: { sid: 'TR_1' } }),
    );
    expect((await stage.storedEvents()).at(-1)?.timestamp).toBe(at(NOW + 900));
  });

  it('never have a room end before it began, or before its last participant joined', async () => {
    stage.clock.advance(-1_200);
    const room = { sid: 'RM_1', name: 'demo', createdAt: NOW + 700 };
    await stage.receive(mediaEvent('room_started', { room }), mediaEvent('room_finished', { room }));
    expect((await stage.storedEvents()).at(-1)?.room.endedAt).toBe(at(NOW + 700));
    const next = { sid: 'RM_2', name: 'demo', createdAt: NOW + 700 };
    const join = mediaEvent('participant_joined', {
      room: next,
      participant: person('bob1', { joinedAt: NOW + 900 }),
    });
    await stage.receive(join, mediaEvent('room_finished', { room: next }));
    expect((await stage.storedEvents()).slice(-2).map(({ timestamp }) => timestamp)).toEqual([
      at(NOW + 900),
      at(NOW + 900),
    ]);
  });
});

describe('recorders and agents', () => {
  it('are neither reported nor counted, as long as their kind is known', async () => {
    const machinery = [
      { sid: 'EG_1', fields: { kind: 'EGRESS' } },
      { sid: 'agent1', fields: { kind: 'AGENT' } },
      { sid: 'hidden1', fields: { isHidden: true } },
    ];
    await stage.receive(mediaEvent('room_started'));
    for (const { sid, fields } of machinery) await stage.receive(joined(sid, fields));
    expect(await stage.summary()).toEqual([OPENED]);
    await stage.receive(joined('ada1'));
    const track = { sid: 'TR_1' };
    for (const { sid } of machinery) {
      await stage.receive(mediaEvent('track_published', { participant: person(sid), track }), left(sid));
    }
    await stage.receive(mediaEvent('room_finished'));
    expect((await stage.summary()).slice(1)).toEqual([
      'room_started 1',
      'participant_joined ada 1',
      'participant_left ada 0',
      'room_finished 0',
    ]);
  });

  it('do not include participants from ingress and SIP, who are reported and counted', async () => {
    await stage.receive(
      mediaEvent('room_started'),
      joined('camera1', { kind: 'INGRESS' }),
      joined('phone1', { kind: 'SIP' }),
    );
    expect((await stage.summary()).slice(2)).toEqual([
      'participant_joined camera 1',
      'participant_joined phone 2',
    ]);
  });
});

describe('events without information of their own', () => {
  it.each(['egress_updated', 'participant_connection_aborted', 'something_new'])(
    'are stored nowhere: %s',
    async (type) => {
      await stage.receive(mediaEvent(type, { participant: person('ada1') }));
      expect(await stage.summary()).toEqual([]);
      expect(await stage.store.presence.listOpenRooms()).toEqual([]);
    },
  );
});

describe('recordings and streams', () => {
  const egress = {
    egressId: 'EG_1',
    room: 'demo',
    startedAt: NOW,
    endedAt: undefined,
    mediaStartedAt: undefined,
    error: undefined,
    startId: undefined,
    streams: [],
    file: undefined,
  };

  it('are reported with the known facts', async () => {
    await stage.receive(mediaEvent('room_started'));
    await stage.receive(mediaEvent('egress_started', { egress: { ...egress, status: 'EGRESS_STARTING' } }));
    const file = { filename: 'a.mp4', location: 's3://a.mp4', sizeBytes: 1234, durationMs: 2500.4 };
    const facts = { status: 'EGRESS_COMPLETE', mediaStartedAt: NOW + 100, endedAt: NOW + 2_500 } as const;
    const ended = { ...egress, ...facts, file };
    await stage.receive(mediaEvent('egress_ended', { egress: ended }));
    const [, started, finished] = await stage.storedEvents();
    expect(started).toMatchObject({
      event: 'egress_started',
      recording: { egressId: 'EG_1', status: 'recording', mediaStartedAt: null },
    });
    expect(finished).toMatchObject({
      event: 'egress_ended',
      recording: {
        egressId: 'EG_1',
        status: 'stopped',
        mediaStartedAt: new Date(NOW + 100).toISOString(),
        sizeBytes: 1234,
        durationMs: 2500,
      },
    });
    expect(finished?.recording).not.toHaveProperty('error');
  });

  it.each(['egress_started', 'egress_updated'])(
    'begin with %s of the start of an instance that died, unless nobody wants it any more',
    async (type) => {
      const { recordings } = stage.store;
      const start = { filepath: 'a.mp4', bucket: null, owner: 'dead', claimUntil: NOW + 60_000 };
      await recordings.claim({ ...start, id: 'rec_1', room: 'demo' }, NOW);
      await recordings.claim({ ...start, id: 'rec_2', room: 'other' }, NOW);
      const unwanted = { type: 'start-unwanted', owner: 'dead', at: NOW } as const;
      await observeRecording(stage.store, 'rec_2', unwanted);
      for (const startId of ['rec_1', 'rec_2']) {
        const told = { ...egress, egressId: `EG_${startId}`, startId, status: 'EGRESS_STARTING' } as const;
        await stage.receive(mediaEvent(type, { egress: told }));
      }
      expect(await recordings.find('rec_1')).toMatchObject({ status: 'recording', egressId: 'EG_rec_1' });
      expect(await recordings.find('rec_2')).toMatchObject({ status: 'starting', egressId: null });
      const events = (await stage.storedEvents()).filter(({ event }) => event === 'egress_started');
      expect(events.map(({ recording }) => recording?.egressId)).toEqual(
        type === 'egress_started' ? ['EG_rec_1'] : [],
      );
    },
  );

  it('are left to an older build that starts them, and not reported as those of a stranger', async () => {
    const { recordings } = stage.store;
    const start = { filepath: 'a.mp4', bucket: null, owner: 'older', claimUntil: NOW + 60_000 };
    await recordings.claim({ ...start, id: 'rec_1', room: 'demo' }, NOW);
    const told = { ...egress, startId: 'rec_1', isOfOlderBuild: true, status: 'EGRESS_STARTING' } as const;
    await stage.receive(mediaEvent('egress_started', { egress: told }));
    expect(await recordings.find('rec_1')).toMatchObject({ status: 'starting', egressId: null });
    expect(await stage.storedEvents()).toEqual([]);
  });

  it.each([
    ['EGRESS_COMPLETE', 'stopped'],
    ['EGRESS_LIMIT_REACHED', 'stopped'],
    ['EGRESS_ABORTED', 'aborted'],
    ['EGRESS_FAILED', 'failed'],
  ] as const)('of %s are %s', async (status, expected) => {
    await stage.receive(mediaEvent('egress_ended', { egress: { ...egress, status, error: 'why' } }));
    expect((await stage.storedEvents())[0]?.recording).toMatchObject({ status: expected, error: 'why' });
  });

  it('are reported once each, also after the end of their room', async () => {
    await stage.receive(mediaEvent('room_started'), mediaEvent('room_finished'));
    const end = mediaEvent('egress_ended', { egress: { ...egress, status: 'EGRESS_COMPLETE' } });
    await stage.receive(end, { ...end, id: 'EV_again' });
    expect((await stage.summary()).slice(2)).toEqual(['egress_ended 0']);
    expect((await stage.storedEvents()).at(-1)).toMatchObject({
      sequence: 3,
      room: { id: 'RM_1', name: 'demo' },
    });
  });

  it('are reported by ingress', async () => {
    const ingress = {
      ingressId: 'IN_1',
      name: 'camera',
      inputType: 'RTMP_INPUT',
      participantIdentity: 'cam',
      participantName: 'Cam',
      error: undefined,
    };
    await stage.receive(mediaEvent('room_started'), mediaEvent('ingress_started', { ingress }));
    await stage.receive(mediaEvent('ingress_ended', { ingress }));
    expect((await stage.storedEvents()).slice(1)).toMatchObject([
      { event: 'ingress_started', ingress: { ingressId: 'IN_1' } },
      { event: 'ingress_ended', ingress: { ingressId: 'IN_1', inputType: 'RTMP_INPUT' } },
    ]);
  });

  it('are reported once for each stream of an ingress, however often the media server reports it', async () => {
    const ingress = {
      ingressId: 'IN_1',
      name: '',
      inputType: 'RTMP_INPUT',
      participantIdentity: 'cam',
      participantName: 'Cam',
      error: undefined,
    };
    const [first, second] = [
      { ingress, streamId: 'RT_1' },
      { ingress, streamId: 'RT_2' },
    ] as const;
    await stage.receive(mediaEvent('ingress_started', first), mediaEvent('ingress_started', first));
    await stage.receive(mediaEvent('ingress_started', first));
    await stage.receive(mediaEvent('ingress_ended', first), mediaEvent('ingress_started', second));
    await stage.receive(mediaEvent('ingress_ended', second));
    const published = (await stage.storedEvents()).filter(({ event }) => event.startsWith('ingress_'));
    expect(published.map(({ event }) => event)).toEqual([
      'ingress_started',
      'ingress_ended',
      'ingress_started',
      'ingress_ended',
    ]);
    expect(JSON.stringify(published)).not.toContain('RT_');
  });
});

describe('a participant', () => {
  const ada = person('ada', { metadata: '{"team":1}', accessRole: 'host' });

  it('joins with metadata and role, and leaves with the reason', async () => {
    await stage.receive(mediaEvent('participant_joined', { participant: ada }));
    await stage.receive(
      mediaEvent('participant_left', { participant: { ...ada, metadata: 'new', leaveReason: 'removed' } }),
    );
    const events = await stage.storedEvents();
    expect(events.slice(-2)).toMatchObject([
      { event: 'participant_joined', participant: { metadata: '{"team":1}', role: 'host' } },
      { event: 'participant_left', participant: { metadata: 'new', role: 'host', leaveReason: 'removed' } },
    ]);
    expect(events.at(-2)?.participant).not.toHaveProperty('leaveReason');
  });

  it('who is present at the end of the room leaves because it was closed, with the known facts', async () => {
    await stage.receive(mediaEvent('participant_joined', { participant: ada }), mediaEvent('room_finished'));
    expect((await stage.storedEvents()).at(-2)).toMatchObject({
      event: 'participant_left',
      participant: { metadata: '{"team":1}', role: 'host', leaveReason: 'room_closed' },
    });
  });
});

describe('a rejected stream', () => {
  it('causes no event, because it never entered its room', async () => {
    const ingress = {
      ...{ ingressId: 'IN_1', name: '', inputType: 'RTMP_INPUT', participantIdentity: 'cam' },
      ...{ participantName: 'Cam', error: 'wrong key' },
    };
    await stage.receive(
      mediaEvent('ingress_ended', {
        sid: '',
        room: { sid: '', name: 'demo', createdAt: undefined },
        ingress,
      }),
    );
    expect(await stage.storedEvents()).toEqual([]);
  });
});

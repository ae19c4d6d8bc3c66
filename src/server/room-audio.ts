import { serveRoomAudio } from './platform/livekit/room-audio-child.ts';

/*
 * The process that listens to rooms for a stt-live worker, which starts and ends it. It never outlives its worker, because
 * its channel closes when the worker ends. It ignores signals that a terminal or a supervisor sends to all processes: the
 * worker handles them, and stores the speech so far before it leaves the rooms.
 */
process.title = 'stt-live-room';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// The room client's native code would keep the process alive.
process.once('disconnect', () => process.exit());
await serveRoomAudio({
  send: (message) => {
    // The worker may end at any moment, which closes the channel.
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  },
  onRequest: (listener) => process.on('message', listener),
});

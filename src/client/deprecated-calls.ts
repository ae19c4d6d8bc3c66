import type { Deliveries } from './nouns/deliveries.ts';
import type { Events } from './nouns/events.ts';
import type { Participants } from './nouns/participants.ts';
import type { Recordings } from './nouns/recordings.ts';
import type { Ingress, Rooms, Tokens } from './nouns/rooms.ts';
import type { Transcription } from './nouns/transcription.ts';
import type { Transcriptions } from './nouns/transcriptions.ts';
import type { Webhooks } from './nouns/webhooks.ts';

/** The flat methods of version 0.1, each an alias of the noun's own method. The next version removes them. */
export abstract class DeprecatedCalls {
  abstract readonly tokens: Tokens;
  abstract readonly rooms: Rooms;
  abstract readonly participants: Participants;
  abstract readonly recordings: Recordings;
  abstract readonly ingress: Ingress;
  abstract readonly transcription: Transcription;
  abstract readonly transcriptions: Transcriptions;
  abstract readonly webhooks: Webhooks;
  abstract readonly deliveries: Deliveries;
  abstract readonly events: Events;

  /** @deprecated Use tokens.create. */
  createToken(...args: Parameters<Tokens['create']>): ReturnType<Tokens['create']> {
    return this.tokens.create(...args);
  }

  /** @deprecated Use tokens.refresh. */
  refreshToken(...args: Parameters<Tokens['refresh']>): ReturnType<Tokens['refresh']> {
    return this.tokens.refresh(...args);
  }

  /** @deprecated Use rooms.create. */
  createRoom(...args: Parameters<Rooms['create']>): ReturnType<Rooms['create']> {
    return this.rooms.create(...args);
  }

  /** @deprecated Use rooms.list. */
  listRooms(...args: Parameters<Rooms['list']>): ReturnType<Rooms['list']> {
    return this.rooms.list(...args);
  }

  /** @deprecated Use rooms.get. */
  getRoom(...args: Parameters<Rooms['get']>): ReturnType<Rooms['get']> {
    return this.rooms.get(...args);
  }

  /** @deprecated Use rooms.delete. */
  deleteRoom(...args: Parameters<Rooms['delete']>): ReturnType<Rooms['delete']> {
    return this.rooms.delete(...args);
  }

  /** @deprecated Use participants.list. */
  listParticipants(...args: Parameters<Participants['list']>): ReturnType<Participants['list']> {
    return this.participants.list(...args);
  }

  /** @deprecated Use participants.remove. */
  removeParticipant(...args: Parameters<Participants['remove']>): ReturnType<Participants['remove']> {
    return this.participants.remove(...args);
  }

  /** @deprecated Use participants.mute. */
  muteTrack(...args: Parameters<Participants['mute']>): ReturnType<Participants['mute']> {
    return this.participants.mute(...args);
  }

  /** @deprecated Use recordings.start. */
  startRecording(...args: Parameters<Recordings['start']>): ReturnType<Recordings['start']> {
    return this.recordings.start(...args);
  }

  /** @deprecated Use recordings.stop. */
  stopRecording(...args: Parameters<Recordings['stop']>): ReturnType<Recordings['stop']> {
    return this.recordings.stop(...args);
  }

  /** @deprecated Use recordings.status. */
  recordingStatus(...args: Parameters<Recordings['status']>): ReturnType<Recordings['status']> {
    return this.recordings.status(...args);
  }

  /** @deprecated Use recordings.list. */
  listRecordings(...args: Parameters<Recordings['list']>): ReturnType<Recordings['list']> {
    return this.recordings.list(...args);
  }

  /** @deprecated Use recordings.get. */
  getRecording(...args: Parameters<Recordings['get']>): ReturnType<Recordings['get']> {
    return this.recordings.get(...args);
  }

  /** @deprecated Use recordings.download. */
  downloadRecording(...args: Parameters<Recordings['download']>): ReturnType<Recordings['download']> {
    return this.recordings.download(...args);
  }

  /** @deprecated Use recordings.delete. */
  deleteRecording(...args: Parameters<Recordings['delete']>): ReturnType<Recordings['delete']> {
    return this.recordings.delete(...args);
  }

  /** @deprecated Use ingress.create. */
  createIngress(...args: Parameters<Ingress['create']>): ReturnType<Ingress['create']> {
    return this.ingress.create(...args);
  }

  /** @deprecated Use ingress.list. */
  listIngress(...args: Parameters<Ingress['list']>): ReturnType<Ingress['list']> {
    return this.ingress.list(...args);
  }

  /** @deprecated Use ingress.delete. */
  deleteIngress(...args: Parameters<Ingress['delete']>): ReturnType<Ingress['delete']> {
    return this.ingress.delete(...args);
  }

  /** @deprecated Use transcription.start. */
  startTranscription(...args: Parameters<Transcription['start']>): ReturnType<Transcription['start']> {
    return this.transcription.start(...args);
  }

  /** @deprecated Use transcription.stop. */
  stopTranscription(...args: Parameters<Transcription['stop']>): ReturnType<Transcription['stop']> {
    return this.transcription.stop(...args);
  }

  /** @deprecated Use transcription.get. */
  getRoomTranscription(...args: Parameters<Transcription['get']>): ReturnType<Transcription['get']> {
    return this.transcription.get(...args);
  }

  /** @deprecated Use transcription.text. */
  getRoomTranscript(...args: Parameters<Transcription['text']>): ReturnType<Transcription['text']> {
    return this.transcription.text(...args);
  }

  /** @deprecated Use transcription.follow. */
  followTranscription(...args: Parameters<Transcription['follow']>): ReturnType<Transcription['follow']> {
    return this.transcription.follow(...args);
  }

  /** @deprecated Use transcription.nameSpeakers. */
  nameSpeakers(
    ...args: Parameters<Transcription['nameSpeakers']>
  ): ReturnType<Transcription['nameSpeakers']> {
    return this.transcription.nameSpeakers(...args);
  }

  /** @deprecated Use transcriptions.create. */
  createTranscription(...args: Parameters<Transcriptions['create']>): ReturnType<Transcriptions['create']> {
    return this.transcriptions.create(...args);
  }

  /** @deprecated Use transcriptions.list. */
  listTranscriptions(...args: Parameters<Transcriptions['list']>): ReturnType<Transcriptions['list']> {
    return this.transcriptions.list(...args);
  }

  /** @deprecated Use transcriptions.get. */
  getTranscription(...args: Parameters<Transcriptions['get']>): ReturnType<Transcriptions['get']> {
    return this.transcriptions.get(...args);
  }

  /** @deprecated Use transcriptions.text. */
  getTranscript(...args: Parameters<Transcriptions['text']>): ReturnType<Transcriptions['text']> {
    return this.transcriptions.text(...args);
  }

  /** @deprecated Use transcriptions.delete. */
  deleteTranscription(...args: Parameters<Transcriptions['delete']>): ReturnType<Transcriptions['delete']> {
    return this.transcriptions.delete(...args);
  }

  /** @deprecated Use webhooks.list. */
  listWebhooks(...args: Parameters<Webhooks['list']>): ReturnType<Webhooks['list']> {
    return this.webhooks.list(...args);
  }

  /** @deprecated Use webhooks.create. */
  createWebhook(...args: Parameters<Webhooks['create']>): ReturnType<Webhooks['create']> {
    return this.webhooks.create(...args);
  }

  /** @deprecated Use webhooks.get. */
  getWebhook(...args: Parameters<Webhooks['get']>): ReturnType<Webhooks['get']> {
    return this.webhooks.get(...args);
  }

  /** @deprecated Use webhooks.update. */
  updateWebhook(...args: Parameters<Webhooks['update']>): ReturnType<Webhooks['update']> {
    return this.webhooks.update(...args);
  }

  /** @deprecated Use webhooks.put. */
  putWebhook(...args: Parameters<Webhooks['put']>): ReturnType<Webhooks['put']> {
    return this.webhooks.put(...args);
  }

  /** @deprecated Use webhooks.delete. */
  deleteWebhook(...args: Parameters<Webhooks['delete']>): ReturnType<Webhooks['delete']> {
    return this.webhooks.delete(...args);
  }

  /** @deprecated Use webhooks.test. */
  testWebhook(...args: Parameters<Webhooks['test']>): ReturnType<Webhooks['test']> {
    return this.webhooks.test(...args);
  }

  /** @deprecated Use deliveries.list. */
  listDeliveries(...args: Parameters<Deliveries['list']>): ReturnType<Deliveries['list']> {
    return this.deliveries.list(...args);
  }

  /** @deprecated Use deliveries.replay. */
  replayDelivery(...args: Parameters<Deliveries['replay']>): ReturnType<Deliveries['replay']> {
    return this.deliveries.replay(...args);
  }

  /** @deprecated Use deliveries.replayFailed. */
  replayFailedDeliveries(
    ...args: Parameters<Deliveries['replayFailed']>
  ): ReturnType<Deliveries['replayFailed']> {
    return this.deliveries.replayFailed(...args);
  }

  /** @deprecated Use events.list. */
  listEvents(...args: Parameters<Events['list']>): ReturnType<Events['list']> {
    return this.events.list(...args);
  }

  /** @deprecated Use events.follow. */
  followEvents(...args: Parameters<Events['follow']>): ReturnType<Events['follow']> {
    return this.events.follow(...args);
  }
}

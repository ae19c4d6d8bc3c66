import { Type } from 'typebox';
import { ServiceError } from '../../contract/errors.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import type { MediaClock } from '../platform/livekit/media-clock.ts';
import type { MediaEvent, MediaEventReader } from '../platform/livekit/media-event.ts';
import type { RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';

export type MediaEventDeps = {
  readonly mediaEventReader: MediaEventReader;
  readonly rejectedWebhooks: Pick<RejectedWebhooks, 'accept'>;
  readonly mediaClock: Pick<MediaClock, 'observeWebhook'>;
  /** Resolves when the event is durable. */
  readonly ingest: (event: MediaEvent) => Promise<void>;
};

/**
 * An event contains the metadata of the room and of a participant, 512 KiB each, which JSON may make six times as long. An
 * event that is rejected for its size would be lost.
 */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** The fields that every event has. */
const MediaEventSchema = Type.Object(
  {
    event: Type.String({ description: "LiveKit's name of the event", examples: ['room_started'] }),
    id: Type.String({
      description: 'The same if LiveKit sends the event again',
      examples: ['EV_7vKYhSQX8wZp'],
    }),
    createdAt: Type.String({ description: 'Unix time in seconds', examples: ['1767225600'] }),
  },
  { description: 'A WebhookEvent of the LiveKit protocol, as ProtoJSON', additionalProperties: true },
);

/**
 * Receives the media server's own webhooks. The media server takes any response except 429 and 5xx for success. Therefore
 * the response for an event that could not be stored is 503, whatever the reason, so that it is sent again.
 */
export function mediaEventRoutes(deps: MediaEventDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/livekit/webhook',
      operationId: 'receiveMediaEvent',
      tag: 'events',
      summary: "Receive the media server's own webhooks",
      description:
        "Add this address to LiveKit's `webhook.urls`. The Authorization header carries LiveKit's JWT, which covers the body.",
      security: 'media-server',
      isInternal: true,
      // The URL in LiveKit's configuration may have one, such as a token for a proxy.
      query: Type.Object({}, { additionalProperties: true }),
      rawBody: { contentType: 'application/webhook+json', schema: MediaEventSchema },
      largeBodies: {
        limitBytes: MAX_EVENT_BYTES,
        allowLargeBody: ({ authorization }) => deps.mediaEventReader.isEventToken(authorization),
      },
      success: { 200: { description: 'The event is stored' } },
      errors: ['missing-credentials', 'invalid-request', 'storage-unavailable'],
      handle: async ({ raw }) => {
        const event = await deps.mediaEventReader.read(raw.body, raw.headers.authorization);
        deps.rejectedWebhooks.accept();
        deps.mediaClock.observeWebhook(event.createdAt);
        await deps.ingest(event).catch((cause: unknown) => {
          throw new ServiceError('storage-unavailable', 'The event could not be stored; send it again.', {
            cause,
            retryable: true,
          });
        });
        return { status: 200 };
      },
    }),
  ];
}

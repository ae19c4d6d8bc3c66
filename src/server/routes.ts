import type { SelfCheckDeps } from './domain/check-self.ts';
import type { IssueTokenDeps } from './domain/issue-token.ts';
import type { ReplayDeps } from './domain/list-deliveries.ts';
import type { ListEventsDeps } from './domain/list-events.ts';
import type { ListRoomsDeps } from './domain/list-rooms.ts';
import type { WebhookDeps } from './domain/manage-webhooks.ts';
import type { RecordingDeps } from './domain/recording-deps.ts';
import type { TestWebhookDeps } from './domain/test-webhook.ts';
import { type ReferenceDeps, referenceRoutes } from './http/reference-page.ts';
import type { Route } from './http/route.ts';
import { deliveryRoutes } from './http/routes/deliveries.ts';
import { eventRoutes } from './http/routes/events.ts';
import { type FiscalCodeDeps, fiscalCodeRoutes } from './http/routes/fiscal-codes.ts';
import { type HealthDeps, healthRoutes } from './http/routes/health.ts';
import { type IngressDeps, ingressRoutes } from './http/routes/ingress.ts';
import { type MediaEventDeps, mediaEventRoutes } from './http/routes/media-events.ts';
import { type MetricsDeps, metricsRoutes } from './http/routes/metrics.ts';
import { participantRoutes } from './http/routes/participants.ts';
import { placeRoutes } from './http/routes/places.ts';
import { type RecordingLibraryDeps, recordingLibraryRoutes } from './http/routes/recording-library.ts';
import { recordingRoutes } from './http/routes/recordings.ts';
import { roomRoutes } from './http/routes/rooms.ts';
import { selfCheckRoutes } from './http/routes/self-check.ts';
import { tokenRoutes } from './http/routes/tokens.ts';
import { type TranscriptionDeps, transcriptionRoutes } from './http/routes/transcription.ts';
import { type TranscriptionsDeps, transcriptionsRoutes } from './http/routes/transcriptions.ts';
import { webhookRoutes } from './http/routes/webhooks.ts';

export type RouteDeps = HealthDeps &
  ListRoomsDeps &
  SelfCheckDeps &
  IssueTokenDeps &
  RecordingDeps &
  RecordingLibraryDeps &
  IngressDeps &
  TranscriptionDeps &
  TranscriptionsDeps &
  WebhookDeps &
  TestWebhookDeps &
  ReplayDeps &
  ListEventsDeps &
  MediaEventDeps &
  FiscalCodeDeps & {
    /** Whether /cf and /it are served. */
    readonly isFiscalApiOn: boolean;
    readonly reference: ReferenceDeps;
    /** Absent when metrics are off, or served on a port of their own. */
    readonly metrics: MetricsDeps | undefined;
  };

/** Every route of the service. */
export function serviceRoutes(deps: RouteDeps): readonly Route[] {
  const routes: readonly Route[] = [
    ...healthRoutes(deps),
    ...selfCheckRoutes(deps),
    ...tokenRoutes(deps),
    ...roomRoutes(deps),
    ...participantRoutes(deps),
    ...recordingRoutes(deps),
    ...recordingLibraryRoutes(deps),
    ...ingressRoutes(deps),
    ...transcriptionRoutes(deps),
    ...transcriptionsRoutes(deps),
    ...webhookRoutes(deps),
    ...deliveryRoutes(deps),
    ...eventRoutes(deps),
    ...mediaEventRoutes(deps),
    ...(deps.isFiscalApiOn ? [...fiscalCodeRoutes(deps), ...placeRoutes()] : []),
    ...(deps.metrics === undefined ? [] : metricsRoutes(deps.metrics)),
    ...referenceRoutes(deps.reference, () => routes),
  ];
  return routes;
}

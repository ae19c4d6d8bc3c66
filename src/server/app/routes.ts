import { type AuditDeps, auditRoutes, type KeyRouteDeps, keyRoutes } from '../access/access-routes.ts';
import { type ErasureDeps, erasePerson } from '../erasure/erase-person.ts';
import { eventRoutes } from '../events/event-routes.ts';
import type { ListEventsDeps } from '../events/list-events.ts';
import { type FiscalCodeDeps, fiscalCodeRoutes } from '../fiscal-api/fiscal-code-routes.ts';
import { type PlaceDeps, placeRoutes } from '../fiscal-api/place-routes.ts';
import type { SelfCheckDeps } from '../health/check-self.ts';
import { type HealthDeps, healthRoutes, selfCheckRoutes } from '../health/health-routes.ts';
import { type MediaEventDeps, mediaEventRoutes } from '../media-events/media-event-routes.ts';
import { type MetricsDeps, metricsRoutes } from '../metrics/metrics-routes.ts';
import type { WaitingDeps } from '../plans/waiting.ts';
import { waitingRoutes } from '../plans/waiting-routes.ts';
import type { Route } from '../platform/http/route.ts';
import { type ReferenceDeps, referenceRoutes } from '../platform/openapi/reference-page.ts';
import { broadcastRoutes } from '../recordings/broadcast-routes.ts';
import type { BroadcastDeps } from '../recordings/broadcasts.ts';
import { type RecordingLibraryDeps, recordingLibraryRoutes } from '../recordings/recording-routes.ts';
import { endRunning, listRunning, recordingRoutes } from '../recordings/room-recording-routes.ts';
import { type IngressDeps, ingressRoutes } from '../rooms/ingress-routes.ts';
import { blockRoutes, type ParticipantRouteDeps, participantRoutes } from '../rooms/participant-routes.ts';
import { planRoutes } from '../rooms/plans/plan-routes.ts';
import type { PlanDeps } from '../rooms/plans/plans.ts';
import { type RoomRouteDeps, roomRoutes } from '../rooms/room-routes.ts';
import { type IssueTokenDeps, tokenRoutes } from '../rooms/token-routes.ts';
import { type SessionDeps, sessionRoutes } from '../sessions/session-routes.ts';
import { type TranscriptionDeps, transcriptionRoutes } from '../transcription/live-routes.ts';
import {
  type TranscriptionsDeps,
  transcriptionsRoutes,
  type VocabularyDeps,
  vocabularyRoutes,
} from '../transcription/transcription-routes.ts';
import { type WordDeps, wordRoutes } from '../transcription/words/word-routes.ts';
import { type UsageDeps, usageRoutes } from '../usage/usage-routes.ts';
import { type DeliveryRouteDeps, deliveryRoutes } from '../webhooks/deliveries.ts';
import type { TestWebhookDeps } from '../webhooks/test-webhook.ts';
import { webhookRoutes } from '../webhooks/webhook-routes.ts';
import type { WebhookDeps } from '../webhooks/webhooks.ts';

export type RouteDeps = HealthDeps &
  KeyRouteDeps &
  AuditDeps &
  Omit<RoomRouteDeps, 'endHelpersOfRoom'> &
  ParticipantRouteDeps &
  PlanDeps &
  WaitingDeps &
  SelfCheckDeps &
  IssueTokenDeps &
  BroadcastDeps &
  RecordingLibraryDeps &
  SessionDeps &
  UsageDeps &
  IngressDeps &
  TranscriptionDeps &
  TranscriptionsDeps &
  Omit<WordDeps, 'erasePerson'> &
  ErasureDeps &
  VocabularyDeps &
  WebhookDeps &
  TestWebhookDeps &
  DeliveryRouteDeps &
  ListEventsDeps &
  MediaEventDeps &
  FiscalCodeDeps &
  PlaceDeps & {
    /** Whether /cf and /it are served. */
    readonly isFiscalApiOn: boolean;
    readonly reference: ReferenceDeps;
    /** Absent when metrics are off, or served on their own port. */
    readonly metrics: MetricsDeps | undefined;
  };

/** Every route of the service. */
export function serviceRoutes(deps: RouteDeps): readonly Route[] {
  const routes: readonly Route[] = [
    ...healthRoutes(deps),
    ...selfCheckRoutes(deps),
    ...tokenRoutes(deps),
    ...roomRoutes({
      ...deps,
      endHelpersOfRoom: async (room) => endRunning(deps, await listRunning(deps, [room])),
    }),
    ...planRoutes(deps),
    ...participantRoutes(deps),
    ...waitingRoutes(deps),
    ...blockRoutes(deps),
    ...recordingRoutes(deps),
    ...broadcastRoutes(deps),
    ...recordingLibraryRoutes(deps),
    ...sessionRoutes(deps),
    ...usageRoutes(deps),
    ...ingressRoutes(deps),
    ...transcriptionRoutes(deps),
    ...transcriptionsRoutes(deps),
    ...wordRoutes({ ...deps, erasePerson: (person) => erasePerson(deps, person) }),
    ...vocabularyRoutes(deps),
    ...webhookRoutes(deps),
    ...deliveryRoutes(deps),
    ...eventRoutes(deps),
    ...keyRoutes(deps),
    ...auditRoutes(deps),
    ...mediaEventRoutes(deps),
    ...(deps.isFiscalApiOn ? [...fiscalCodeRoutes(deps), ...placeRoutes(deps)] : []),
    ...(deps.metrics === undefined ? [] : metricsRoutes(deps.metrics)),
    ...referenceRoutes(deps.reference, () => routes),
  ];
  return routes;
}

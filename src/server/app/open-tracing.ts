import type { Metrics, StoreCall } from '../metrics/metrics.ts';
import type { LivekitCall } from '../platform/livekit/livekit-media-server.ts';
import type { TracingDeps } from '../platform/tracing/open-telemetry.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import type { Config } from './config/config.ts';

/** The SDK is loaded only for those who want traces. */
export async function openTracing(
  { tracing }: Config,
  deps: Omit<TracingDeps, 'instanceId'> & { readonly instanceId?: string | undefined },
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined;
  const { createTracing } = await import('../platform/tracing/open-telemetry.ts');
  return createTracing(tracing, { ...deps, instanceId: deps.instanceId ?? '' });
}

/** Both count and trace what they are told of. */
export function observeCalls(metrics: Metrics | undefined, tracing: Tracing | undefined) {
  return {
    onStoreCall: (call: StoreCall): void => {
      metrics?.observeStoreCall(call);
      tracing?.record({
        name: `${call.store}.${call.method}`,
        durationMs: call.durationMs,
        error: call.isSuccess ? undefined : 'the call failed',
        attributes: { 'db.collection.name': call.store, 'db.operation.name': call.method },
      });
    },
    onMediaCall: (call: LivekitCall): void => {
      metrics?.observeMediaCall(call);
      tracing?.record({
        name: `livekit.${call.method}`,
        durationMs: call.durationMs,
        error: call.outcome === 'ok' ? undefined : call.outcome,
        attributes: { 'rpc.system.name': 'twirp', 'rpc.method': call.method },
      });
    },
  };
}

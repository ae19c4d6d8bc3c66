import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';

export type AnsweredRequest = {
  readonly method: string;
  /** The route's pattern, never the path itself: that carries names and codes of people. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
};

export type WatchDeps = {
  readonly log: Log;
  readonly onAnswer?: ((answered: AnsweredRequest) => void) | undefined;
};

/** Counted for an answer of which not all was sent, whatever it said: nginx's number for a caller who left. */
const BROKEN_OFF = 499;

/**
 * Logs and counts the request when it is over. That is told by the answer's `close`, as the framework's own hook does
 * not run for those who hang up before they have it all, nor for what its router cannot read.
 */
export function watchAnswer(deps: WatchDeps, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const isWhole = reply.raw.writableFinished;
    const answered = {
      method: request.method,
      route: request.routeOptions.config?.route?.path ?? '(unknown)',
      status: isWhole ? reply.statusCode : BROKEN_OFF,
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    };
    deps.log.info(
      { requestId: request.id, ...answered },
      isWhole ? 'request answered' : 'request broken off',
    );
    deps.onAnswer?.(answered);
  });
}

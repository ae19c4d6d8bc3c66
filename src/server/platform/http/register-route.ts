import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FieldError, ServiceError } from '../../../contract/errors.ts';
import { parseJsonBody } from './read-body.ts';
import type { Answer, Route, RouteInput } from './route.ts';
import { compileValidator, type Validate } from './validate.ts';

type RouteValidators = {
  readonly params: Validate | undefined;
  readonly query: Validate;
  readonly body: Validate | undefined;
};

/** A route that takes no query parameters says so to a caller who mistypes one. */
const NO_PARAMETERS = { type: 'object', properties: {}, additionalProperties: false };

export function registerRoute(app: FastifyInstance, route: Route): void {
  const validators: RouteValidators = {
    params: route.params && compileValidator(route.params, 'params'),
    query: compileValidator(route.query ?? NO_PARAMETERS, 'query'),
    body: route.body && (route.checksBodyItself ? (body) => body : compileValidator(route.body, 'body')),
  };
  app.route({
    method: route.method,
    url: route.path,
    config: { route },
    handler: async (request, reply) =>
      send(reply, await route.handle(readInput(validators, request) as never)),
  });
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  return reply.send(answer.body);
}

/** Checks all three places before it complains, so that every bad field is named at once. */
function readInput(
  validators: RouteValidators,
  request: FastifyRequest,
): RouteInput<unknown, unknown, unknown> {
  const faults: ServiceError[] = [];
  const read = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid-request') throw error;
      faults.push(error);
      return undefined;
    }
  };
  const { params, query, body } = validators;
  const input = {
    params: params && read(() => params(request.params)),
    query: read(() => query(request.query)),
    raw: { method: request.method, body: request.rawBody, headers: request.headers },
    body: body && read(() => body(parseJsonBody(request.rawBody, request.headers))),
  };
  const [first] = faults;
  if (first === undefined) return input;
  if (faults.length === 1) throw first;
  const errors: FieldError[] = faults.flatMap((fault) => fault.errors ?? []);
  throw new ServiceError('invalid-request', first.message, { errors });
}

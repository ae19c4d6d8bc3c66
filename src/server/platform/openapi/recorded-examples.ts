import recorded from './examples.json' with { type: 'json' };

/*
 * The examples of the document: exchanges that test/server/platform/openapi/examples.test.ts records and compares, so that
 * they are always current.
 */

export type RecordedOperation = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
};

const OPERATIONS: Readonly<Record<string, RecordedOperation>> = recorded.operations;
const PROBLEMS: Readonly<Record<string, object>> = recorded.problems;
const DELIVERIES: Readonly<Record<string, object>> = recorded.deliveries;

export function recordedOperation(operationId: string): RecordedOperation | undefined {
  return OPERATIONS[operationId];
}

export function recordedProblem(code: string): object | undefined {
  return PROBLEMS[code];
}

export function recordedDelivery(event: string): Readonly<Record<string, unknown>> | undefined {
  const delivery = DELIVERIES[event];
  return delivery === undefined ? undefined : { ...delivery };
}

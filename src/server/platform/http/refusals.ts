import { ServiceError } from '../../../contract/errors.ts';
import type { Hint } from '../../../contract/hint.ts';

/* The errors of requests that fit their schemas, and are refused all the same. */

/** @param pointer the field of the body, such as `#/name`; `#` for the body itself */
export function refusedField(pointer: string, detail: string, hint?: Hint): ServiceError {
  return new ServiceError('invalid-request', `${pointer === '#' ? 'The body' : pointer} ${detail}.`, {
    errors: [{ pointer, detail }],
    ...(hint === undefined ? {} : { hint }),
  });
}

export function refusedParameter(parameter: string, detail: string): ServiceError {
  return new ServiceError('invalid-request', `Parameter ${parameter} ${detail}.`, {
    errors: [{ parameter, detail }],
  });
}

import { Type } from 'typebox';
import { nameSchema } from './names.ts';

/* Path parameters that several nouns share. */

/** @param form such as `wh_<id>` */
export function idParameter(form: string, example: string) {
  return Type.String({ minLength: 1, maxLength: 256, description: form, examples: [example] });
}

export const roomIdParameter = nameSchema('Room name', 'demo');

import { type Static, Type } from 'typebox';

/**
 * `unknown`: the service cannot find out, and `next` may describe how to. `note`: something optional is missing, and nothing
 * is wrong.
 */
export const SELF_CHECK_STATUSES = ['ok', 'note', 'warning', 'fault', 'unknown'] as const;

/** Result of one check of something that the service depends on, for people to read. */
export const SelfCheckSchema = Type.Object(
  {
    check: Type.String({ description: 'Name of the check', examples: ['bucket'] }),
    status: Type.Enum(SELF_CHECK_STATUSES, {
      description:
        'note: something optional is missing, and nothing is wrong; unknown: the service cannot find out, and `next` may describe how to',
    }),
    detail: Type.String({
      description: 'What was found',
      examples: ['the object storage refuses the signature'],
    }),
    next: Type.String({
      description: 'What to do; empty when nothing is needed',
      examples: ['check S3_SECRET_KEY'],
    }),
  },
  { $id: 'SelfCheck', description: 'One check' },
);
export type SelfCheck = Static<typeof SelfCheckSchema>;

export const SelfCheckListSchema = Type.Object(
  { checks: Type.Array(SelfCheckSchema, { description: 'Every check' }) },
  { $id: 'SelfCheckList', description: "Results of the service's checks of itself" },
);
export type SelfCheckList = Static<typeof SelfCheckListSchema>;

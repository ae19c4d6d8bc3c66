import { type Static, Type } from 'typebox';

/** `unknown`: cannot be told from the service; `next` may say how it can. */
export const SELF_CHECK_STATUSES = ['ok', 'warning', 'fault', 'unknown'] as const;

/** One thing that the service can find out about what stands behind it, for people to read. */
export const SelfCheckSchema = Type.Object(
  {
    check: Type.String({ description: 'Name of the check', examples: ['bucket'] }),
    status: Type.Enum(SELF_CHECK_STATUSES, {
      description: 'unknown: the service cannot tell; `next` may say how to find out',
    }),
    detail: Type.String({
      description: 'What was found',
      examples: ['the object storage refuses the signature'],
    }),
    next: Type.String({ description: 'What to do; empty for nothing', examples: ['check S3_SECRET_KEY'] }),
  },
  { $id: 'SelfCheck', description: 'One thing that was checked' },
);
export type SelfCheck = Static<typeof SelfCheckSchema>;

export const SelfCheckListSchema = Type.Object(
  { checks: Type.Array(SelfCheckSchema, { description: 'Every check' }) },
  { $id: 'SelfCheckList', description: 'What the service found out about itself' },
);
export type SelfCheckList = Static<typeof SelfCheckListSchema>;

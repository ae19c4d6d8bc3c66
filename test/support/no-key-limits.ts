import type { KeyLimits } from '../../src/server/platform/http/limits/key-limits.ts';
import { ROOT_QUOTA } from '../../src/server/platform/http/limits/key-limits.ts';

/** The limits of API keys for what only the root key does. */
export const NO_KEY_LIMITS: Pick<KeyLimits, 'quota' | 'refuse'> = {
  quota: () => ROOT_QUOTA,
  refuse: (kind) => new Error(`there is no limit of ${kind}`) as never,
};

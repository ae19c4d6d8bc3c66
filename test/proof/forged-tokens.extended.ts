import { it } from 'vitest';
import { forgedTokens } from '../../proof/hostile/tokens/tokens.ts';
import { expectToHold } from './support/run-short.ts';

it('forged and altered tokens of LiveKit are refused', () => expectToHold(forgedTokens), 60_000);

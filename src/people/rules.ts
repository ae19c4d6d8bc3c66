import type { Language } from '../fiscal/index.ts';

/** The options of the fiscal library. */
export type Rules = {
  readonly asOf: string;
  readonly strict: boolean;
  readonly century: number | undefined;
  readonly language: Language;
  /** False when many codes are processed, because suggestions cost as much as a thousand codes. */
  readonly suggest?: false;
};

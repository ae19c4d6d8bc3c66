import type { messages } from '../../../fiscal/index.ts';

type Language = keyof typeof messages;

/**
 * Language of the reasons: Italian if it is the browser's first language, because codes mostly concern Italians; else
 * English like the rest of the console. Works in a worker too.
 */
export const READER_LANGUAGE: Language = /^it\b/i.test(navigator.language) ? 'it' : 'en';

import type { messages } from '../../../fiscal/index.ts';

type Language = keyof typeof messages;

/**
 * The language of the reasons: Italian where the browser's first one is, since codes are mostly Italians' business, else
 * English as the rest of the console. Works in a worker too.
 */
export const READER_LANGUAGE: Language = /^it\b/i.test(navigator.language) ? 'it' : 'en';

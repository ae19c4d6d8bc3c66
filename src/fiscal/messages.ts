import type { Language, Messages } from './message-catalogue.ts';
import { english } from './messages-en.ts';
import { italian } from './messages-it.ts';

/** Messages by language. The Italian ones use the terms of the Agenzia delle Entrate. */
export const messages: Readonly<Record<Language, Messages>> = { en: english, it: italian };

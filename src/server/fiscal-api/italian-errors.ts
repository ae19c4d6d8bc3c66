import type { ErrorCode, ServiceError } from '../../contract/errors.ts';
import { SchemaViolations, type Violation } from '../platform/http/validate.ts';

/** Translates the errors that any route can have into Italian. Errors without a translation stay English. */
export function italianMessage(error: ServiceError): string {
  const [first] = Object.entries(italianFields(error) ?? {});
  if (first !== undefined) return `${first[0]}: ${first[1]}`;
  return MESSAGES[error.code] ?? error.message;
}

/** Returns the errors of each field; undefined when no field has one. */
export function italianFields({ cause }: ServiceError): Readonly<Record<string, string>> | undefined {
  if (!(cause instanceof SchemaViolations)) return undefined;
  const named = [...cause.fields].filter(([name]) => name !== '').slice(0, MOST_FIELDS);
  return named.length === 0
    ? undefined
    : Object.fromEntries(named.map(([name, violation]) => [name, italianDetail(violation)]));
}

/** The number that is listed in English. */
const MOST_FIELDS = 100;

function italianDetail({ keyword, params }: Violation): string {
  const words: Readonly<Record<string, string>> = {
    required: 'è obbligatorio',
    additionalProperties: 'non è previsto',
    enum: `deve essere uno tra ${String(params.allowedValues).replaceAll(',', ', ')}`,
    type: `deve essere di tipo ${String(params.type)}`,
    minimum: `deve essere almeno ${String(params.limit)}`,
    maximum: `deve essere al massimo ${String(params.limit)}`,
    minLength: 'non deve essere vuoto',
    maxLength: `deve avere al massimo ${String(params.limit)} caratteri`,
    pattern: 'non ha la forma prevista',
    format: 'non ha la forma prevista',
  };
  return words[keyword] ?? 'non è valido';
}

const MESSAGES: Partial<Readonly<Record<ErrorCode, string>>> = {
  'invalid-request': 'La richiesta non è valida.',
  'route-not-found': 'Non esiste nulla a questo indirizzo.',
  'method-not-allowed': 'Il metodo non è ammesso a questo indirizzo.',
  'request-timeout': 'La richiesta non è arrivata in tempo.',
  'payload-too-large': 'Il corpo della richiesta è troppo grande.',
  'unsupported-media-type': 'Il corpo della richiesta deve essere JSON (Content-Type: application/json).',
  'rate-limited': 'Troppe richieste: riprovare più tardi.',
  'internal-error': 'Errore interno del servizio.',
};

import { messages } from '../../../../fiscal/index.ts';
import type { RecordErrors } from '../../../../people/person-record.ts';
import type { Rules } from '../../../../people/rules.ts';
import type { RowFault } from '../files/row-fault.ts';
import { TEXTS } from '../texts.ts';

/** What is wrong with a person's fields. */
export function faultOf(errors: RecordErrors, { language }: Rules): RowFault {
  const { fields, reasons } = TEXTS[language];
  const texts: Readonly<Record<string, string>> = {
    ...reasons,
    ...messages[language].checkReasons,
    ...messages[language].personReasons,
  };
  const all = Object.entries(errors);
  return {
    reason: all.map(([field]) => field).join(','),
    message: all.map(([, { message }]) => message).join('; '),
    // A message about a place may name it, and would be counted by itself.
    labels: all.map(([field, { reason, message }]) =>
      field === 'city' ? `${fields[field] ?? field}: ${texts[reason] ?? reason}` : message,
    ),
  };
}

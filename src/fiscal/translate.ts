import type { CheckFailure } from './check-failure.ts';
import type { Language } from './message-catalogue.ts';
import { messages } from './messages.ts';
import type { PersonFault } from './person-fault.ts';

/** The failure with its messages in the language. */
export const translateFailure = (failure: CheckFailure, language: Language): CheckFailure => {
  const { codeFault } = messages[language];
  const [first, ...others] = failure.faults;
  const deciding = { ...first, message: codeFault(first) };
  return {
    ...failure,
    message: deciding.message,
    faults: [deciding, ...others.map((fault) => ({ ...fault, message: codeFault(fault) }))],
  };
};

/** The faults with their messages in the language. */
export const translateFaults = (faults: readonly PersonFault[], language: Language): readonly PersonFault[] =>
  faults.map((fault) => ({ ...fault, message: messages[language].personFault(fault) }));

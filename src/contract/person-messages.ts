/** Errors of a field that are found before the fiscal library gets it. */
export type FieldProblem =
  | { readonly kind: 'not-text' | 'not-boolean' | 'missing' | 'not-number' }
  | { readonly kind: 'too-long'; readonly most: number }
  | { readonly kind: 'out-of-range'; readonly least: number; readonly most: number };

type ProblemMessage = (field: string, problem: FieldProblem) => string;

/** Messages by language. They contain no data of the person. */
export const problemMessages: Readonly<Record<'en' | 'it', ProblemMessage>> = {
  en: (field, problem) => {
    switch (problem.kind) {
      case 'not-text':
        return `the ${field} must be text`;
      case 'not-boolean':
        return `${field} must be true or false`;
      case 'missing':
        return `the ${field} is missing`;
      case 'not-number':
        return `the ${field} must be a whole number, or its digits`;
      case 'too-long':
        return `the ${field} must have at most ${problem.most} characters`;
      case 'out-of-range':
        return `the ${field} must be ${problem.least} to ${problem.most}`;
    }
  },
  it: (field, problem) => {
    const subject = ITALIAN_SUBJECTS[field] ?? field;
    switch (problem.kind) {
      case 'not-text':
        return `${subject} deve essere un testo`;
      case 'not-boolean':
        return `${field} deve essere true o false`;
      case 'missing':
        return `manca ${subject}`;
      case 'not-number':
        return `${subject} deve essere un numero intero, o le sue cifre`;
      case 'too-long':
        return `${subject} deve avere al massimo ${problem.most} caratteri`;
      case 'out-of-range':
        return `${subject} deve essere compreso tra ${problem.least} e ${problem.most}`;
    }
  },
};

const ITALIAN_SUBJECTS: Readonly<Record<string, string>> = {
  name: 'il nome',
  surname: 'il cognome',
  gender: 'il sesso',
  day: 'il giorno di nascita',
  month: 'il mese di nascita',
  year: "l'anno di nascita",
  city: 'il comune o lo stato estero di nascita',
  province: 'la sigla della provincia',
};

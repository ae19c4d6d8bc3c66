import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check, type DecodedCode, decode, generate, omocodie } from '../../src/fiscal/index.ts';

/** The date of the expected results. */
const asOf = '2026-11-21';

type Vector = {
  readonly id: string;
  readonly kind: string;
  readonly cf: string;
  readonly input?: PersonInput;
  readonly asOf?: string;
  readonly expected?: unknown;
  readonly alternativeYear?: number;
  readonly valid?: boolean;
  readonly strictValid?: boolean;
  readonly warning?: string | null;
  readonly reason?: string;
  readonly base?: string;
  readonly level?: number;
  readonly omocodes?: readonly string[];
  readonly judgement?: unknown;
};
type PersonInput = {
  readonly name: string;
  readonly surname: string;
  readonly gender: 'F' | 'M';
  readonly day: number;
  readonly month: number;
  readonly year: number;
  readonly city: string;
  readonly province: string;
};
type CheckJudgement = { readonly valid: boolean; readonly reason: string; readonly warning?: string | null };

const vectors = (file: string): Vector[] =>
  readFileSync(new URL(`../../data/vectors/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Vector);

const published = vectors('public.jsonl');
const disputed = vectors('disagreements.jsonl');
const ofKind = (all: readonly Vector[], kind: string): Vector[] =>
  all.filter((vector) => vector.kind === kind);

const generated = (input: PersonInput | undefined): string | undefined => {
  if (input === undefined) return undefined;
  const { name: givenName, surname, gender: sex, city: birthplace, province } = input;
  const result = generate({ surname, givenName, sex, birthDate: input, birthplace, province }, { asOf });
  return result.ok ? result.codiceFiscale : JSON.stringify(result.faults);
};

const decoded = (code: string): DecodedCode => {
  const result = decode(code, { asOf });
  if (!result.ok) throw new Error(result.message);
  return result;
};

const asExpected = (code: DecodedCode): unknown => ({
  gender: code.sex,
  year: code.year,
  month: code.month,
  day: code.day,
  code: code.birthplace.codiceCatastale,
  birthDate: code.birthDate,
  omocode: code.omocodia.level > 0,
  base: code.baseCode,
  surnameCode: code.surname,
  nameCode: code.givenName,
  placeName: code.birthplace.name,
  province: code.birthplace.province,
  placeActiveAtBirth: code.birthplace.wasInForce,
  placeNameToday: code.birthplace.today?.name ?? null,
});

/** The vectors' reasons. If a reason is less specific than the library's, several of the library's are allowed. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'bad-length': ['length'],
  'bad-format': ['characters', 'omocodia'],
  'bad-checksum': ['check-character'],
  'bad-date': ['date'],
  'bad-month': ['date'],
  'unknown-place': ['place'],
};

const expectCheck = (code: string, judgement: CheckJudgement): void => {
  const result = check(code, { asOf });
  expect(result.ok).toBe(judgement.valid);
  if (!result.ok) expect(REASONS[judgement.reason]).toContain(result.reason);
  else expect(result.warnings.includes('place-not-in-force')).toBe((judgement.warning ?? null) !== null);
};

describe('public vectors', () => {
  it('are complete', () => {
    expect(published).toHaveLength(442);
    expect(disputed).toHaveLength(107);
  });

  it.each(ofKind(published, 'generate'))('$id generates the code', ({ input, cf }) => {
    expect(generated(input)).toBe(cf);
  });

  it.each(ofKind(published, 'decode'))('$id decodes the code', ({ cf, expected, alternativeYear }) => {
    const result = decoded(cf);
    expect(asExpected(result)).toEqual(expected);
    expect(result.otherBirthDate?.slice(0, 4)).toBe(alternativeYear?.toString());
  });

  it.each(ofKind(published, 'check'))('$id checks the code', (vector) => {
    const { cf, valid = false, reason = '', warning = null, strictValid } = vector;
    expectCheck(cf, { valid, reason, warning });
    expect(check(cf, { asOf, strict: true }).ok).toBe(strictValid);
  });

  it.each(ofKind(published, 'omocode-level'))(
    '$id is a form of its base code',
    ({ base = '', cf, level }) => {
      const forms = omocodie(base, { asOf });
      expect(forms.ok && forms.omocodie).toContain(cf);
      expect(decoded(cf)).toMatchObject({ baseCode: base, omocodia: { level } });
    },
  );

  it.each(ofKind(published, 'omocodes'))('$id lists all the forms in order', ({ cf, omocodes }) => {
    expect(omocodie(cf, { asOf })).toEqual({ ok: true, baseCode: cf, omocodie: omocodes });
  });
});

// The library meets every decision about a disputed vector, so there are no exceptions here.
describe('disputed vectors', () => {
  it.each(ofKind(disputed, 'generate'))('$id generates the decided code', ({ input, judgement }) => {
    expect(generated(input)).toBe(judgement);
  });

  it.each(ofKind(disputed, 'decode'))('$id decodes the decided code', ({ cf, judgement }) => {
    expect(asExpected(decoded(cf))).toEqual(judgement);
  });

  it.each(ofKind(disputed, 'check'))('$id checks the decided code', ({ cf, judgement }) => {
    expectCheck(cf, judgement as CheckJudgement);
  });
});

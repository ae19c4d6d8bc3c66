import { regions } from '../fiscal/index.ts';

/** The abbreviation of a province as people write it: `RM`, `(RM)`, `Roma`, `Estero`. Anything else stays as it is. */
export function provinceOfText(text: string): string {
  if (text.length <= 2) return text;
  const bare = text.replace(/[().]/g, '').trim();
  if (bare.length <= 2) return bare;
  abbreviations ??= readAbbreviations();
  return abbreviations.get(lettersOf(bare)) ?? text;
}

let abbreviations: ReadonlyMap<string, string> | undefined;

function readAbbreviations(): Map<string, string> {
  const named = regions().flatMap(({ provinces }) =>
    provinces.flatMap(({ name, abbreviation }) =>
      name.split('/').map((part): [string, string] => [lettersOf(part), abbreviation]),
    ),
  );
  return new Map([...named, ['ESTERO', 'EE'], ['STATOESTERO', 'EE']]);
}

function lettersOf(name: string): string {
  return name
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .replace(/^PROVINCIADI/, '');
}

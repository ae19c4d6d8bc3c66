import type { Symbols } from '../packed-symbols.ts';

/**
 * Unpacks the postal codes of comuni, whose provinces are given as numbers: five digits each, a blank after each comune. Most
 * have one, with the first three digits of the comune before it in the province.
 */
export const unpackPostalCodes = (symbols: Symbols, provinces: readonly number[]): string => {
  const readRest = symbols.addKind({ below: SEVERAL * 2, contexts: 10 });
  const readArea = [symbols.addKind({ below: 32 }), symbols.addKind({ below: 32, contexts: 32 })] as const;
  const readStep = symbols.addKind({ below: 64 });
  const areas = new Uint16Array(26 * 26);
  symbols.open(0);
  const readOtherArea = (): number => {
    const high = readArea[0](0);
    return high * 32 + readArea[1](high);
  };
  return provinces
    .map((province) => {
      let rest = readRest((areas[province] ?? 0) % 10);
      if (rest === OTHER_AREA) {
        areas[province] = readOtherArea();
        rest = readRest((areas[province] ?? 0) % 10);
      }
      let cap = (areas[province] ?? 0) * 100 + (rest % SEVERAL);
      let text = String(cap).padStart(5, '0');
      for (let step = rest < SEVERAL ? 0 : readStep(0); step > 0; step = readStep(0)) {
        cap = step === FAR ? readOtherArea() * 100 + readRest(0) : cap + step;
        text += String(cap).padStart(5, '0');
      }
      return text;
    })
    .join(' ');
};

/** Instead of the last two digits: other first three follow. */
export const OTHER_AREA = 100;

/** Is added to the last two digits of the first of several postal codes. */
export const SEVERAL = 101;

/** Instead of a step to the next postal code of a comune: it follows whole. */
export const FAR = 63;

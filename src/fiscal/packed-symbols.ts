/**
 * The coding of the packed tables: Huffman codes, as gzip has them, but with a code of its own for each kind of number and for
 * each context in which it stands, which gzip cannot know.
 */

/** Reads the next symbol of a kind, in a context below the number of contexts of the kind. */
export type ReadSymbol = (context: number) => number;

/** A packed table. Its parts can be read without each other. */
export type Packed = {
  /**
   * For each kind and context, the bits of each symbol: one digit each, and that of {@link ALONE} for one that no other can
   * stand for, which takes no bits. Symbols that do not occur are `A`, and several in a row a digit of {@link RUNS}.
   */
  readonly lengths: string;
  /** The bits of each part, six in a base64url digit. */
  readonly parts: readonly string[];
};

/** The symbols are numbers below `below`. Contexts, each with a code of its own, are numbers below `contexts`; one if absent. */
export type SymbolKind = { readonly below: number; readonly contexts?: number };

/** The symbols of a table: those that are read or, while a table is packed, those that are to be written. */
export type Symbols = {
  /** Returns a reader of the symbols of a kind. Kinds must be added in the order in which they were when the table was packed. */
  readonly addKind: (kind: SymbolKind) => ReadSymbol;
  /** Begins to read a part. */
  readonly open: (part: number) => void;
};

export const unpackSymbols = ({ lengths: written, parts }: Packed): Symbols => {
  const lengths = written.replace(/[R-Za-z0-9_-]/g, (run) => 'A'.repeat(RUNS.indexOf(run) + 2));
  let nextLength = 0;
  let text = '';
  let at = 0;
  let digit = 0;
  let bits = 0;
  const addKind = ({ below: size, contexts = 1 }: SymbolKind): ReadSymbol => {
    const codes: (HuffmanCode | undefined)[] = [];
    const start = nextLength;
    nextLength += contexts * size;
    return (context) => {
      // Read at its first use, because few contexts occur in one part.
      const own = codes[context] ?? readCode(lengths, start + context * size, size);
      codes[context] = own;
      const { counts, symbols } = own;
      if (counts[ALONE] === 1) return symbols[0] as number;
      // `first` is the first code of a length, and `index` its place among all symbols.
      let code = 0;
      let first = 0;
      let index = 0;
      for (let length = 1; length <= MOST_BITS; length++) {
        if (bits === 0) {
          digit = DIGIT_VALUES[text.charCodeAt(at++)] as number;
          bits = 6;
        }
        bits -= 1;
        code += (digit >> bits) & 1;
        const count = counts[length] as number;
        if (code - first < count) return symbols[index + code - first] as number;
        index += count;
        first = (first + count) << 1;
        code <<= 1;
      }
      return 0;
    };
  };
  return {
    addKind,
    open: (part) => {
      text = parts[part] ?? '';
      at = bits = 0;
    },
  };
};

/** How many symbols have a code of each length, and the symbols in the order of their codes. */
type HuffmanCode = { readonly counts: Uint16Array; readonly symbols: Uint16Array };

export const MOST_BITS = 15;
export const ALONE = MOST_BITS + 1;

/**
 * Tables of places are packed in parts of so many codes. The first use of a code waits for its part, and each part costs a page
 * seven bytes.
 */
export const SLOTS_OF_PART = 150;

/** The digit of a symbol that does not occur, an A. */
const NO_BITS = 65;

const readCode = (lengths: string, start: number, size: number): HuffmanCode => {
  const counts = new Uint16Array(ALONE + 1);
  const occurring: number[] = [];
  for (let symbol = 0; symbol < size; symbol++) {
    const length = lengths.charCodeAt(start + symbol) - NO_BITS;
    if (length === 0) continue;
    counts[length] = (counts[length] as number) + 1;
    occurring.push(symbol);
  }
  const next = new Uint16Array(ALONE + 1);
  for (let length = 1; length < ALONE; length++)
    next[length + 1] = (next[length] as number) + (counts[length] as number);
  const symbols = new Uint16Array(occurring.length);
  for (const symbol of occurring) {
    const length = lengths.charCodeAt(start + symbol) - NO_BITS;
    const index = next[length] as number;
    symbols[index] = symbol;
    next[length] = index + 1;
  }
  return { counts, symbols };
};

export const BASE64URL_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The digits that are no length, for 2 and more symbols. */
export const RUNS = BASE64URL_DIGITS.slice(ALONE + 1);

/** The value of a base64url digit by its character code. */
export const DIGIT_VALUES: Uint8Array = (() => {
  const values = new Uint8Array(128);
  for (let value = 0; value < 64; value++) values[BASE64URL_DIGITS.charCodeAt(value)] = value;
  return values;
})();

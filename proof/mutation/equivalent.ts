/*
 * Mutants that no test can kill, because the changed code does the same. Somebody has read each of them. A mutant is
 * recognized by the text of its line, so that its reason no longer counts when the line changes.
 */

type Reason = {
  /** The source line without the spaces around it, and the change as `describeMutant` names it. */
  readonly mutants: readonly (readonly [line: string, change: string])[];
  readonly why: string;
};

const LENGTH_LINE = 'if (text.length * MAX_BYTES_PER_CHARACTER > MAX_TEXT_BYTES) {';

const NOTHING_TO_STOP = 'if (queue === undefined || orderingKey === null) return;';

const REASONS: Readonly<Record<string, readonly Reason[]>> = {
  'src/contract/hmac-sha256.ts': [
    {
      mutants: [
        ['const MAX_TEXT_BYTES = 4096;', '4096 → 4097'],
        ['const MAX_BYTES_PER_CHARACTER = 3;', '3 → 4'],
        [LENGTH_LINE, '> → >='],
        [LENGTH_LINE, 'text.length * MAX_BYTES_PER_CHARACTER > MAX_TEXT_BYTES → true'],
      ],
      why: 'More texts, or fewer, are signed by `createHmac`, which gives the same signature.',
    },
  ],
  'src/contract/webhook-signing.ts': [
    {
      mutants: [
        [
          "return { specified: createSecretKey(secret, 'utf8'), standard: standardKey(secret) };",
          "'utf8' → ''",
        ],
        ["return isEncoded ? createSecretKey(key) : createSecretKey(secret, 'utf8');", "'utf8' → ''"],
      ],
      why: 'An empty encoding counts as `utf8`, which is also the default.',
    },
  ],
  'src/fiscal/check-character.ts': [
    {
      mutants: [
        ['const character = code[start + at] ?? 0;', '0 → 1'],
        ['sum += ((at & 1) === 0 ? ODD_VALUES[character] : EVEN_VALUES[character]) ?? 0;', '0 → 1'],
      ],
      why: 'The index is always inside the array, so that this value is never used.',
    },
    {
      mutants: [
        ['const byCode = new Uint8Array(256);', '256 → 257'],
        ["byCode.set(values.slice(0, 10), '0'.charCodeAt(0));", '10 → 11'],
      ],
      why: 'Only a character gets another value that no code may have. A code with it is refused earlier.',
    },
  ],
  'src/fiscal/check.ts': [
    {
      mutants: [[': otherLengthStatus(end - start, (at) => bytes[start + at] ?? 0),', '0 → 1']],
      why: 'Neither 0 nor 1 is the code of a letter or digit, so that the text is refused for its characters either way.',
    },
  ],
  'src/fiscal/omocodia.ts': [
    {
      mutants: [
        ['for (let at = 0; at < CODE_LENGTH; at++) {', '< → <='],
        ['for (let bit = 0; bit < DIGIT_POSITIONS.length; bit++) {', '< → <='],
      ],
      why: 'The additional round writes behind the end of typed arrays, which has no effect.',
    },
    {
      mutants: [['textBytes[at] = character > 96 ? character - 32 : character;', '> → >=']],
      why: 'Character 96 is a backtick, and a code with one is refused earlier.',
    },
    {
      mutants: [['if (parts.mask === 0) return codiceFiscale;', 'parts.mask === 0 → false']],
      why: 'The condition only saves work: the base form of a code without substitutes is the code itself.',
    },
  ],
  'src/server/webhooks/dispatcher/in-flight-deliveries.ts': [
    {
      mutants: [['if (webhookIds.length === 0) return false;', 'webhookIds.length === 0 → false']],
      why: 'The condition only saves work: none of no webhooks can be claimed for.',
    },
    {
      mutants: [
        ['if (orderingKey !== null) {', 'orderingKey !== null → true'],
        [
          'if (job.delivery.orderingKey !== null) queue.runningOrders.add(job.delivery.orderingKey);',
          'job.delivery.orderingKey !== null → true',
        ],
      ],
      why: 'The sets of orders then get or are asked for `null`, but no delivery waits behind one without an order.',
    },
    {
      mutants: [
        [NOTHING_TO_STOP, '|| → &&'],
        [NOTHING_TO_STOP, 'queue === undefined || orderingKey === null → false'],
      ],
      why: 'Nothing waits behind a delivery without an order, and a webhook without a queue has no deliveries.',
    },
  ],
};

/** Returns why the mutant is equivalent to the original; undefined if nobody has found that. */
export function reasonOf(file: string, line: string, change: string): string | undefined {
  const isMeant = ([text, replaced]: readonly [string, string]): boolean =>
    text === line.trim() && replaced === change;
  return REASONS[file]?.find(({ mutants }) => mutants.some(isMeant))?.why;
}

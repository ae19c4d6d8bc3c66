import { expect, it } from 'vitest';
import { apply, findMutants } from '../../proof/mutation/mutants.ts';

const mutationsOf = (text: string): readonly string[] =>
  findMutants('some.ts', text).map((mutant) => apply(text, mutant));

it('mutants change one operator, condition, literal or call, and no type', () => {
  expect(mutationsOf("const a: 'x' = b < 2 as 1;")).toEqual([
    "const a: 'x' = b <= 2 as 1;",
    "const a: 'x' = b < 3 as 1;",
  ]);
  expect(mutationsOf('if (!a) b();').toSorted()).toEqual(
    ['if (true) b();', 'if (false) b();', 'if (a) b();', 'if (!a) ;'].toSorted(),
  );
  expect(mutationsOf("import { a } from 'b';\nexport type C = 'd' | 1;")).toEqual([]);
});

import { expect, it } from 'vitest';
import { apply, findMutants } from '../../proof/mutation/mutants.ts';

const listMutations = (text: string): readonly string[] =>
  findMutants('some.ts', text).map((mutant) => apply(text, mutant));

it('mutants change one operator, condition, literal or call, and no type', () => {
  expect(listMutations("const a: 'x' = b < 2 as 1;")).toEqual([
    "const a: 'x' = b <= 2 as 1;",
    "const a: 'x' = b < 3 as 1;",
  ]);
  expect(listMutations('if (!a) b();').toSorted()).toEqual(
    ['if (true) b();', 'if (false) b();', 'if (a) b();', 'if (!a) ;'].toSorted(),
  );
  expect(listMutations("import { a } from 'b';\nexport type C = 'd' | 1;")).toEqual([]);
});

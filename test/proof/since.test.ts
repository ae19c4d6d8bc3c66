import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { experiments } from '../../proof/experiments.ts';
import { ATTACKED, explainChoice, listImports } from '../../proof/since.ts';

const names = experiments.map(({ name }) => name);
const choose = (...changed: readonly string[]) => explainChoice(changed, names);

describe('the experiments that a change can have touched', () => {
  it('are those that attack its folder, and say so', () => {
    expect(choose('src/fiscal/check.ts')).toEqual([
      { name: 'mutation', file: 'src/fiscal/check.ts', because: 'it attacks src/fiscal' },
    ]);
    const ofSender = choose('src/server/webhooks/sender/address-guard.ts').map(({ name }) => name);
    expect(ofSender).toContain('forbidden-addresses');
    expect(ofSender).not.toContain('bucket-faults');
  });

  it('are those that import it, also through other files', () => {
    expect(choose('proof/hostile/keys/attacks.ts')).toEqual(
      ['hostile-keys-sqlite', 'hostile-keys-postgres'].map((name) => ({
        ...{ name, file: 'proof/hostile/keys/attacks.ts', because: 'it imports this file' },
      })),
    );
    expect(listImports('proof/faults/rolling-restart.ts')).toContain(
      'test/server/webhooks/support/serve-process.ts',
    );
  });

  it('are all after a change of dependencies, and none after one of a text', () => {
    expect(choose('package-lock.json').map(({ name }) => name)).toEqual(names);
    expect(choose('docs/storage.md', 'README.md')).toEqual([]);
  });

  it('each import a file of their own and name what exists', () => {
    expect(Object.keys(ATTACKED)).toEqual(names);
    expect(choose('proof/experiment.ts').map(({ name }) => name)).toEqual(names);
    for (const path of new Set(Object.values(ATTACKED).flat())) {
      expect(existsSync(join(import.meta.dirname, '..', '..', path)), path).toBe(true);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

const billOfMaterials = {
  components: [
    { name: 'abc', version: '1.0.0', licenses: [{ license: { id: 'MIT' } }] },
    { group: '@scope', name: 'two', version: '2.3.4', licenses: [{ expression: 'MIT AND BSD-3-Clause' }] },
  ],
};
const loaders = { bundled: async () => billOfMaterials };

describe('rtc version --bundled', () => {
  it('lists the bundled packages with their versions and licences', async () => {
    const { code, stdout } = await run(['version', '--bundled'], { loaders });
    expect([code, stdout]).toEqual([0, 'abc\t1.0.0\tMIT\n@scope/two\t2.3.4\tMIT AND BSD-3-Clause\n']);
  });

  it('prints them as JSON', async () => {
    const { stdout } = await run(['version', '--bundled', '--json'], { loaders });
    expect(JSON.parse(stdout)).toEqual({
      packages: [
        { name: 'abc', version: '1.0.0', licence: 'MIT' },
        { name: '@scope/two', version: '2.3.4', licence: 'MIT AND BSD-3-Clause' },
      ],
    });
  });

  it('does not read them for the version alone', async () => {
    const { code, stdout } = await run(['version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^rtc \d+\.\d+\.\d+ \(Node /);
  });
});

import { describe, expect, it } from 'vitest';
import { faultsOfPowerShell } from '../../support/parts/python-tools.ts';
import { run } from '../support/run.ts';

/*
 * PowerShell is not available from the package registries. Therefore its script is checked against a grammar, and not run.
 */

const readScript = async (): Promise<string> => (await run(['completion', 'powershell'])).stdout;

describe('the completion of PowerShell', () => {
  it("is a script of PowerShell's grammar", async () => {
    expect(await faultsOfPowerShell(await readScript())).toBe('');
  });

  it.each([
    [
      'a bracket that is not closed',
      (script: string) => script.replace('$_.ToString() })', '$_.ToString() }'),
    ],
    ['a quote that is not closed', (script: string) => script.replace(`"'" + $value`, `"' + $value`)],
  ])('is checked by a parser that finds %s', async (_fault, damage) => {
    const script = await readScript();
    expect(damage(script)).not.toBe(script);
    expect(await faultsOfPowerShell(damage(script))).toMatch(/^line \d+: /);
  });
});

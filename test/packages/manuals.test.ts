import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { REGISTRY } from '../../src/cli/registry.ts';
import { packPackage } from './support/packed.ts';

it("the package has a manual page for rtc and for each noun, in npm's place, and completions", async () => {
  const packed = await packPackage('rtc-service');
  try {
    const manifest = JSON.parse(await readFile(join(packed.folder, 'package.json'), 'utf8')) as {
      readonly man: readonly string[];
    };
    const names = ['rtc', ...REGISTRY.map(({ noun }) => `rtc-${noun}`)];
    expect(manifest.man).toEqual(names.map((name) => `./dist/man/${name}.1.gz`).toSorted());
    const page = gunzipSync(await readFile(join(packed.folder, 'dist/man/rtc-rooms.1.gz'))).toString();
    expect(page).toMatch(/^\.TH RTC-ROOMS 1 "" "rtc-service \d/);
    expect(page).toContain('.SH "ROOMS CREATE"');
    expect(page.split('\n').slice(1).join('\n')).not.toMatch(/[^\\]-/);
    expect((await readdir(join(packed.folder, 'dist/completions'))).toSorted()).toEqual([
      'rtc.bash',
      'rtc.fish',
      'rtc.powershell',
      'rtc.zsh',
    ]);
  } finally {
    await packed.close();
  }
});

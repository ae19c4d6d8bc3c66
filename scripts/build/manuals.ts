import { mkdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { COMPLETION_SCRIPTS } from '../../src/cli/commands/completion.ts';
import { layOutHelp } from '../../src/cli/framework/help/layout.ts';
import { rootHelp } from '../../src/cli/framework/help/root-help.ts';
import { type CommandGroup, commandName } from '../../src/cli/framework/parameters.ts';
import { REGISTRY } from '../../src/cli/registry.ts';

const LAYOUT = { width: 78, hasColours: false } as const;

/**
 * Writes a manual page for `rtc` and for each noun, from the same data as the help, and the completion of each shell. `man`
 * can read compressed pages.
 */
export async function writeManuals(out: string, version: string): Promise<void> {
  await mkdir(`${out}/man`, { recursive: true });
  const write = (name: string, text: string): Promise<void> =>
    writeFile(`${out}/man/${name}.1.gz`, gzipSync(text, { level: 9 }));
  const root = { name: 'rtc', summary: 'operate the rooms of a real-time room service', version };
  await write('rtc', page(root, [['Help', rootHelp(REGISTRY, LAYOUT)]]));
  for (const group of REGISTRY) {
    const name = `rtc-${group.noun}`;
    await write(name, page({ name, summary: group.summary, version }, await makeSections(group)));
  }
  await mkdir(`${out}/completions`, { recursive: true });
  for (const [shell, script] of Object.entries(COMPLETION_SCRIPTS)) {
    await writeFile(`${out}/completions/rtc.${shell}`, script);
  }
}

type Section = readonly [title: string, text: string];

async function makeSections(group: CommandGroup): Promise<readonly Section[]> {
  const { commands } = await group.load();
  return await Promise.all(
    commands.map(
      async (command): Promise<Section> => [commandName(command), await layOutHelp(group, command, LAYOUT)],
    ),
  );
}

type Page = { readonly name: string; readonly summary: string; readonly version: string };

/** Formats a page in roff (man 7). The help already has its layout, so it is not changed. */
function page({ name, summary, version }: Page, sections: readonly Section[]): string {
  return [
    `.TH ${name.toUpperCase()} 1 "" "rtc-service ${version}"`,
    '.SH NAME',
    `${inRoff(name)} \\- ${inRoff(summary)}`,
    ...sections.flatMap(([title, text]) => [
      `.SH "${title.toUpperCase()}"`,
      '.nf',
      inRoff(text.trimEnd()),
      '.fi',
    ]),
    '',
  ].join('\n');
}

/** Escapes text that roff would interpret: a backslash, a hyphen, and a line that begins like a request. */
function inRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}

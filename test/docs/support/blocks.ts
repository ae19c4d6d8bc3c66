import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, ROOT } from '../pages.ts';

/** A code block of a page. */
export type Block = {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
};

/** Includes blocks within a list. Their indentation is removed. */
function listBlocks(page: string): readonly Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = '', language = '', code = ''] = match;
    return {
      page,
      line: text.slice(0, match.index).split('\n').length,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

const BLOCKS: readonly Block[] = PAGES.flatMap(listBlocks);

/** Returns the blocks, named by page and line, so that a failure shows where to look. */
export function blocksIn(...languages: readonly string[]): readonly (readonly [string, Block])[] {
  return BLOCKS.filter(({ language }) => languages.includes(language)).map((block) => [
    `${block.page}:${block.line}`,
    block,
  ]);
}

/** Returns the commands of a shell block. Continued lines are joined; comments and empty lines are left out. */
export function shellLines({ code }: Block): readonly string[] {
  const lines: string[] = [];
  let end: string | undefined;
  for (const line of code.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    if (end !== undefined) {
      lines.push(`${lines.pop()}\n${line}`);
      if (line === end) end = undefined;
      continue;
    }
    const command = line.replace(/(^|\s)# .*$/, '').trim();
    if (command !== '') lines.push(command);
    end = /<<(\w+)$/.exec(command)?.[1];
  }
  return lines;
}

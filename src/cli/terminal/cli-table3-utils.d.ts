/** cli-table3 measures with this and does not declare it: columns on a terminal, wide and combining characters included. */
declare module 'cli-table3/src/utils.js' {
  export function strlen(text: string): number;
}

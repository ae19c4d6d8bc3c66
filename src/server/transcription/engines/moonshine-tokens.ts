/**
 * Moonshine's tokenizer.bin as sherpa-onnx's tokens file. The binary is a sequence of entries: a length (one byte;
 * from 128 on two, second * 128 + first - 128), then the token's bytes; a length of 0 is an empty token. The file
 * has a line for each: the base64 of the bytes, a tab, the id.
 */
export function moonshineTokens(binary: Uint8Array): string {
  const lines: string[] = [];
  let position = 0;
  while (position < binary.length) {
    const first = binary[position] ?? 0;
    const isLong = first >= 128;
    const length = isLong ? (binary[position + 1] ?? 0) * 128 + first - 128 : first;
    const start = position + (isLong ? 2 : 1);
    position = start + length;
    if (position > binary.length) throw new Error('The tokenizer ends within a token: the file is damaged.');
    lines.push(`${Buffer.from(binary.subarray(start, position)).toString('base64')}\t${lines.length}`);
  }
  return `${lines.join('\n')}\n`;
}

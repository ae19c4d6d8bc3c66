/**
 * Converts Moonshine's tokenizer.bin to the tokens file of sherpa-onnx. The binary is a sequence of entries: a length
 * (one byte; from 128 on two bytes, second * 128 + first - 128), then the bytes of the token. A length of 0 is an
 * empty token. The tokens file has one line per token: the base64 of its bytes, a tab, its id.
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

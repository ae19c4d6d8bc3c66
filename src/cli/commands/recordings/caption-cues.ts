type Cue = { readonly fromMs: number; readonly toMs: number; readonly text: string };

/**
 * Rewrites SubRip so that no two captions overlap, because an MP4 file cannot have that: ffmpeg would cut the first one off
 * at the beginning of the second. While several people speak, one caption has the lines of all of them.
 */
export function withoutOverlap(srt: string): string {
  const cues = srt
    .split(/\n\s*\n/)
    .flatMap(parseCue)
    .filter(({ fromMs, toMs }) => toMs > fromMs);
  const marks = [...new Set(cues.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].toSorted((a, b) => a - b);
  const flat: Cue[] = [];
  // Cues begin in the order of the marks, and few last at once.
  let lasting: readonly Cue[] = [];
  let next = 0;
  const sorted = cues.toSorted((a, b) => a.fromMs - b.fromMs);
  for (const [index, fromMs] of marks.entries()) {
    lasting = lasting.filter(({ toMs }) => toMs > fromMs);
    for (let cue = sorted[next]; cue?.fromMs === fromMs; cue = sorted[next]) {
      lasting = [...lasting, cue];
      next += 1;
    }
    const toMs = marks[index + 1];
    if (toMs === undefined || lasting.length === 0) continue;
    flat.push({ fromMs, toMs, text: lasting.map(({ text }) => text).join('\n') });
  }
  return flat.map(writeCue).join('\n');
}

const TIMES = /^(\S+) --> (\S+)\s*\n/m;

function parseCue(block: string): readonly Cue[] {
  const times = TIMES.exec(block);
  if (times === null) return [];
  const [from = '', to = ''] = times.slice(1);
  const text = block.slice(times.index + times[0].length).trim();
  return [{ fromMs: toMs(from), toMs: toMs(to), text }];
}

function writeCue({ fromMs, toMs: untilMs, text }: Cue, index: number): string {
  return `${index + 1}\n${toTime(fromMs)} --> ${toTime(untilMs)}\n${text}\n`;
}

/** `00:01:02,345` */
function toMs(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = time.split(/[:,]/).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function toTime(ms: number): string {
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  return `${parts.join(':')},${String(ms % 1000).padStart(3, '0')}`;
}

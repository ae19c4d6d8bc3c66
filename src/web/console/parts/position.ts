/**
 * `1:05`, `1:02:09`: a position within a recording or a transcription. What somebody says as that begins may be before its
 * start, by the clock of another machine.
 */
export function describePosition(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours === 0 ? `${minutes}:${pad(rest)}` : `${hours}:${pad(minutes)}:${pad(rest)}`;
}

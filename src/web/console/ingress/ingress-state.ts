import type { Ingress } from '../../../contract/ingress.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import type { Tone } from '../parts/status.tsx';

/*
 * The state of a stream as the media server reports it: LiveKit's IngressState in protobuf JSON, whose members the contract
 * passes on.
 */

type State = { readonly word: string; readonly tone: Tone; readonly error: string };

const WORDS: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  ENDPOINT_INACTIVE: ['Waiting for a stream', 'neutral'],
  ENDPOINT_BUFFERING: ['Starting', 'warning'],
  ENDPOINT_PUBLISHING: ['Streaming', 'active'],
  ENDPOINT_ERROR: ['Failed', 'bad'],
  ENDPOINT_COMPLETE: ['Ended', 'neutral'],
};

export function readState(ingress: Ingress): State {
  const { status, error } = readMembers(readMembers(ingress).state);
  const [word, tone] = WORDS[typeof status === 'string' ? status : ''] ??
    WORDS.ENDPOINT_INACTIVE ?? ['', 'neutral'];
  return { word, tone, error: typeof error === 'string' ? error : '' };
}

export function isStreaming(ingress: Ingress): boolean {
  return ['active', 'warning'].includes(readState(ingress).tone);
}

/** `Video: 1920 × 1080, 30 frames a second, 4.5 Mbit/s`. */
export function describeTracks(ingress: Ingress): readonly string[] {
  const { video, audio } = readMembers(readMembers(ingress).state);
  const described = [];
  const picture = readMembers(video);
  if (readNumber(picture.width) > 0) {
    const frames = Math.round(readNumber(picture.framerate));
    described.push(
      `Video: ${readNumber(picture.width)} × ${readNumber(picture.height)}${frames === 0 ? '' : `, ${frames} frames a second`}${bitrate(picture)}`,
    );
  }
  const sound = readMembers(audio);
  if (readNumber(sound.sampleRate) > 0) {
    described.push(
      `Sound: ${readNumber(sound.sampleRate)} Hz, ${readNumber(sound.channels)} channels${bitrate(sound)}`,
    );
  }
  return described;
}

function bitrate({ averageBitrate }: Readonly<Record<string, unknown>>): string {
  const bits = readNumber(averageBitrate);
  if (bits === 0) return '';
  return bits >= 1_000_000
    ? `, ${(bits / 1_000_000).toFixed(1)} Mbit/s`
    : `, ${Math.round(bits / 1000)} kbit/s`;
}

function readNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

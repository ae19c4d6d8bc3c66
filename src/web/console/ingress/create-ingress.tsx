import { Plus } from 'lucide-react';
import { useState } from 'react';
import { INGRESS_TYPES, type IngressType } from '../../../contract/choices.ts';
import type { Ingress } from '../../../contract/ingress.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import type { Tone } from '../parts/status.tsx';

type Typed = { type: IngressType; name: string };

export function CreateIngress({ room }: { readonly room: string }) {
  const typed: Typed = { type: 'rtmp', name: '' };
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: `Stream into ${room}`,
        consequence: 'Whoever has the stream key can publish into the room.',
        fields: <Fields room={room} typed={typed} />,
        verb: 'Create',
        run: async () => {
          const { type, name } = typed;
          await client.ingress.create(room, { type, ...(name === '' ? {} : { participantName: name }) });
        },
      })}
    >
      <Plus aria-hidden /> Create an ingress
    </ChangeButton>
  );
}

function Fields({ room, typed }: { readonly room: string; readonly typed: Typed }) {
  const [{ type, name }, setShown] = useState({ type: typed.type, name: typed.name });
  const change = (changed: Partial<Typed>): void => {
    Object.assign(typed, changed);
    setShown({ ...typed });
  };
  return (
    <>
      <label className="field">
        Protocol
        <select
          value={type}
          onChange={(event) =>
            change({ type: INGRESS_TYPES.find((known) => known === event.target.value) ?? 'rtmp' })
          }
        >
          {INGRESS_TYPES.map((known) => (
            <option key={known} value={known}>
              {known.toUpperCase()}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Name that others see
        <input
          value={name}
          placeholder="Ingress Stream"
          maxLength={256}
          onChange={(event) => change({ name: event.target.value })}
        />
      </label>
      <CommandLine
        command={writeCommand(
          'ingress',
          'create',
          room,
          '--type',
          type,
          ...(name === '' ? [] : ['--name', name]),
        )}
      />
    </>
  );
}

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

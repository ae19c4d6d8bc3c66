import type { DevAddOn } from '../../../contract/choices.ts';
import type { AbsentAddOn, DevReady } from '../../terminal/io.ts';

export type AddOnLine = { readonly label: string; readonly text: string };

const RUNNING: Readonly<Record<DevAddOn, AddOnLine>> = {
  'stt-live': { label: '  Captions', text: 'of what is said in a room' },
  'stt-post': { label: '  Transcripts', text: 'of recordings' },
  recorder: { label: '  Recorder', text: "LiveKit's egress worker" },
};

/** Says of each add-on that it works, or what it is missing and the command for it. `rtc` is the program's name here. */
export function addOnLines({ running, absent }: DevReady['addOns'], rtc: string): readonly AddOnLine[] {
  const speech = absent.filter(({ name }) => name !== 'recorder');
  const [first, ...others] = speech.map((one) => missing(one, rtc));
  const isSame = others.length > 0 && others.every((text) => text === first);
  const alone = isSame ? absent.filter(({ name }) => name === 'recorder') : absent;
  return [
    ...running.map((name) => RUNNING[name]),
    ...(isSame ? [{ label: '  Speech', text: first ?? '' }] : []),
    ...alone.map((one) => ({ label: RUNNING[one.name].label, text: missing(one, rtc) })),
  ];
}

/** Such as `none: there is no speech model yet; install the small English one: rtc stt install …`. */
function missing({ reason, hint }: AbsentAddOn, rtc: string): string {
  const command = hint?.command?.replace(/^rtc /, `${rtc} `);
  const next =
    hint === undefined ? [] : [[hint.text, ...(command === undefined ? [] : [command])].join(': ')];
  return `none: ${[lowerFirst(reason), ...next].join('; ')}`;
}

/** A word in capitals stays one. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) && !text.startsWith('LiveKit')
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
}

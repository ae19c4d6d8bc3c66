import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type Invitation, type Occupancy, readOccupancy } from './session.ts';
import { describeDeviceError } from './words.ts';

/*
 * Before the call: the picture, the name, the devices. Nothing of the call's code is needed here, so this is what a browser
 * loads first.
 */

export type Device = { readonly isOn: boolean; readonly id: string | undefined };

/** The devices with which somebody joins. */
export type Choices = { readonly microphone: Device; readonly camera: Device };

const KEPT = 'rtc-room-choices';

/** The choices of this tab's call, so that a reload comes back to the call. */
export function readChoices({ room, identity }: Invitation): Choices | undefined {
  const text = sessionStorage.getItem(`${KEPT} ${room} ${identity}`);
  return text === null ? undefined : JSON.parse(text);
}

export function keepChoices({ room, identity }: Invitation, choices: Choices): void {
  sessionStorage.setItem(`${KEPT} ${room} ${identity}`, JSON.stringify(choices));
}

export function forgetChoices(): void {
  sessionStorage.clear();
}

type Props = {
  readonly invitation: Invitation;
  readonly onJoin: (name: string, choices: Choices) => Promise<void>;
};

export function PreJoin({ invitation, onJoin }: Props) {
  const { room, role, name: invitedName } = invitation;
  const [name, setName] = useState(invitedName);
  const [isJoining, setJoining] = useState(false);
  const [microphone, setMicrophone] = useState<Device>({ isOn: role !== 'viewer', id: undefined });
  const [camera, setCamera] = useState<Device>({ isOn: role !== 'viewer', id: undefined });
  const sound = useDevice('audioinput', microphone);
  const picture = useDevice('videoinput', camera);
  const error = picture.error ?? sound.error;
  const occupancy = useOccupancy(invitation);
  const join = (event: FormEvent): void => {
    event.preventDefault();
    setJoining(true);
    stopTracks(sound.stream);
    stopTracks(picture.stream);
    void onJoin(name, { microphone, camera });
  };
  return (
    <main className="pre-join">
      {role !== 'viewer' && (
        <div className="preview">
          <Picture {...picture} isOn={camera.isOn} name={name} />
          <LevelMeter stream={sound.stream} isOn={microphone.isOn} />
        </div>
      )}
      <form onSubmit={join}>
        <h1>{room}</h1>
        <p className="faint">{describeOccupancy(occupancy)}</p>
        <NameField name={name} onChange={setName} />
        {role === 'viewer' ? (
          <p className="faint">You watch and listen. Nobody sees or hears you.</p>
        ) : (
          <>
            <DeviceField label="Microphone" device={microphone} onChange={setMicrophone} {...sound} />
            <DeviceField label="Camera" device={camera} onChange={setCamera} {...picture} />
          </>
        )}
        {error !== undefined && (
          <p role="alert" className="warning">
            {error}
          </p>
        )}
        <button type="submit" className="button primary" disabled={isJoining || name.trim() === ''}>
          {isJoining ? 'Joining …' : invitation.waiting === true ? 'Ask to join' : 'Join'}
        </button>
      </form>
    </main>
  );
}

function NameField({ name, onChange }: { readonly name: string; readonly onChange: (name: string) => void }) {
  return (
    <label className="field">
      Your name
      <input
        value={name}
        onChange={(event) => onChange(event.target.value)}
        required
        maxLength={100}
        autoComplete="name"
      />
    </label>
  );
}

function describeOccupancy(occupancy: Occupancy | undefined): string {
  if (occupancy === undefined) return ' ';
  const { people, maxParticipants } = occupancy;
  if (maxParticipants > 0 && people >= maxParticipants)
    return `The room is full: ${people} of ${maxParticipants}.`;
  if (people === 0) return 'Nobody is here yet.';
  return people === 1 ? 'One person is here.' : `${people} people are here.`;
}

function useOccupancy(invitation: Invitation): Occupancy | undefined {
  const [occupancy, setOccupancy] = useState<Occupancy>();
  useEffect(() => {
    const read = (): void => {
      readOccupancy(invitation).then(setOccupancy, () => undefined);
    };
    read();
    const timer = window.setInterval(read, 5_000);
    return () => window.clearInterval(timer);
  }, [invitation]);
  return occupancy;
}

type OpenDevice = {
  readonly stream: MediaStream | undefined;
  readonly choices: readonly MediaDeviceInfo[];
  readonly error: string | undefined;
};

/** Opens a device while it is on. Browsers name devices only after the user has allowed one. */
function useDevice(kind: 'audioinput' | 'videoinput', device: Device): OpenDevice {
  const [open, setOpen] = useState<OpenDevice>({ stream: undefined, choices: [], error: undefined });
  useEffect(() => {
    if (!device.isOn) {
      setOpen((before) => ({ ...before, stream: undefined, error: undefined }));
      return;
    }
    let stream: MediaStream | undefined;
    let isCurrent = true;
    const start = async (): Promise<void> => {
      const wanted = kind === 'audioinput' ? { audio: constrain(device) } : { video: constrain(device) };
      try {
        stream = await navigator.mediaDevices.getUserMedia(wanted);
        const found = await navigator.mediaDevices.enumerateDevices();
        if (isCurrent)
          setOpen({ stream, choices: found.filter((each) => each.kind === kind), error: undefined });
        else stopTracks(stream);
      } catch (reason) {
        const error = describeDeviceError(reason instanceof Error ? reason.name : undefined);
        if (isCurrent) setOpen({ stream: undefined, choices: [], error });
      }
    };
    void start();
    return () => {
      isCurrent = false;
      stopTracks(stream);
    };
  }, [kind, device]);
  return open;
}

function stopTracks(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

function constrain({ id }: Device): MediaTrackConstraints | true {
  return id === undefined ? true : { deviceId: id };
}

type PictureProps = Pick<OpenDevice, 'stream' | 'error'> & {
  readonly isOn: boolean;
  readonly name: string;
};

function Picture({ stream, error, isOn, name }: PictureProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current !== null) video.current.srcObject = stream ?? null;
  }, [stream]);
  const hasPicture = isOn && stream !== undefined;
  const starting = error === undefined ? 'The camera is starting …' : 'There is no picture.';
  return (
    <>
      <video ref={video} autoPlay muted playsInline hidden={!hasPicture} className="mirrored" />
      {!hasPicture && <p className="no-picture">{isOn ? starting : `${name}, your camera is off.`}</p>}
    </>
  );
}

/** Shows that the microphone hears something. */
function LevelMeter({ stream, isOn }: { readonly stream: MediaStream | undefined; readonly isOn: boolean }) {
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    if (!isOn || stream === undefined) return;
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const timer = window.setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      // Speech is quiet beside the loudest possible sound; its square root uses the whole meter.
      if (meter.current !== null) meter.current.value = Math.sqrt(loudest);
    }, 100);
    return () => {
      window.clearInterval(timer);
      void context.close();
    };
  }, [stream, isOn]);
  return <meter ref={meter} min={0} max={1} hidden={!isOn} aria-label="Level of your microphone" />;
}

type DeviceFieldProps = Pick<OpenDevice, 'choices' | 'error'> & {
  readonly label: string;
  readonly device: Device;
  readonly onChange: (device: Device) => void;
};

function DeviceField({ label, device, choices, error, onChange }: DeviceFieldProps) {
  const starting = error === undefined ? 'Starting …' : 'Not available';
  return (
    <div className="device">
      <button
        type="button"
        role="switch"
        aria-checked={device.isOn}
        className="button"
        onClick={() => onChange({ ...device, isOn: !device.isOn })}
      >
        {label} {device.isOn ? 'on' : 'off'}
      </button>
      <select
        aria-label={label}
        value={device.id ?? choices[0]?.deviceId ?? ''}
        disabled={choices.length === 0}
        onChange={(event) => onChange({ ...device, id: event.target.value })}
      >
        {choices.length === 0 && <option value="">{device.isOn ? starting : 'Off'}</option>}
        {choices.map(({ deviceId, label: text }) => (
          <option key={deviceId} value={deviceId}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

import { useLocalParticipant, useMediaDeviceSelect, useRoomContext } from '@livekit/components-react';
import {
  Captions,
  Hand,
  MessageSquare,
  Mic,
  MicOff,
  MonitorUp,
  PhoneOff,
  Settings,
  Smile,
  Users,
  Video,
  VideoOff,
} from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { hasRaisedHand } from './people.tsx';
import { REACTIONS, sendReaction } from './reactions.tsx';
import { type Invitation, moveHand, readCaptions, switchCaptions } from './session.ts';
import { PANEL_BUTTONS, type PanelTab } from './side-panel.tsx';
import { describeDeviceError, describeFailure } from './words.ts';

type Props = {
  readonly invitation: Invitation;
  readonly tab: PanelTab | undefined;
  readonly unread: number;
  /** Number of people who wait to be admitted. */
  readonly waiting: number;
  /** Whether the call goes on: captions of a room that nobody has joined would end at once. */
  readonly isConnected: boolean;
  readonly onTab: (tab: PanelTab) => void;
  readonly onLeave: () => void;
  readonly onError: (error: string | undefined) => void;
};

export function Controls(props: Props) {
  const { invitation, tab, unread, waiting, isConnected, onTab, onLeave, onError } = props;
  const act = (action: Promise<unknown>): void => {
    onError(undefined);
    action.catch((reason: unknown) => {
      // The user closed the browser's own dialog.
      if (reason instanceof Error && reason.name === 'NotAllowedError' && isScreenQuestion(reason)) return;
      onError(describeFailure(reason));
    });
  };
  return (
    <section className="controls" aria-label="Controls">
      {invitation.role !== 'viewer' && (
        <>
          <DeviceToggles act={act} />
          <HandToggle {...{ invitation, isConnected, act }} />
          <ReactionMenu act={act} />
          <Menu label="Devices" icon={<Settings />}>
            {() => (
              <>
                <DeviceSelect kind="audioinput" label="Microphone" onError={onError} />
                <DeviceSelect kind="videoinput" label="Camera" onError={onError} />
                <DeviceSelect kind="audiooutput" label="Speaker" onError={onError} />
              </>
            )}
          </Menu>
        </>
      )}
      {invitation.role === 'host' && <CaptionSwitch {...{ invitation, isConnected, onError }} />}
      <PanelToggles {...{ tab, unread, waiting, onTab }} />
      <button type="button" className="control leave" aria-label="Leave" onClick={onLeave}>
        <PhoneOff aria-hidden="true" />
        <span className="label">Leave</span>
      </button>
    </section>
  );
}

function PanelToggles({ tab, unread, waiting, onTab }: Pick<Props, 'tab' | 'unread' | 'waiting' | 'onTab'>) {
  return (
    <>
      <Toggle
        id={PANEL_BUTTONS.people}
        label="People"
        isOn={tab === 'people' || tab === 'waiting'}
        icon={<Users />}
        badge={waiting}
        counts="waiting"
        onClick={() => onTab(tab === 'waiting' || (waiting > 0 && tab !== 'people') ? 'waiting' : 'people')}
      />
      <Toggle
        id={PANEL_BUTTONS.chat}
        label="Chat"
        isOn={tab === 'chat'}
        icon={<MessageSquare />}
        badge={unread}
        onClick={() => onTab('chat')}
      />
    </>
  );
}

/** Shows the failure of an action. */
type Act = { readonly act: (action: Promise<unknown>) => void };

function DeviceToggles({ act }: Act) {
  const { localParticipant, isMicrophoneEnabled, isCameraEnabled, isScreenShareEnabled } =
    useLocalParticipant();
  return (
    <>
      <Toggle
        label={isMicrophoneEnabled ? 'Mute' : 'Unmute'}
        isOff={!isMicrophoneEnabled}
        icon={isMicrophoneEnabled ? <Mic /> : <MicOff />}
        onClick={() => act(localParticipant.setMicrophoneEnabled(!isMicrophoneEnabled))}
      />
      <Toggle
        label={isCameraEnabled ? 'Stop camera' : 'Start camera'}
        isOff={!isCameraEnabled}
        icon={isCameraEnabled ? <Video /> : <VideoOff />}
        onClick={() => act(localParticipant.setCameraEnabled(!isCameraEnabled))}
      />
      {canShareScreen() && (
        <Toggle
          label={isScreenShareEnabled ? 'Stop sharing' : 'Share screen'}
          isOn={isScreenShareEnabled}
          icon={<MonitorUp />}
          onClick={() => act(localParticipant.setScreenShareEnabled(!isScreenShareEnabled))}
        />
      )}
    </>
  );
}

function HandToggle({ invitation, isConnected, act }: Act & Pick<Props, 'invitation' | 'isConnected'>) {
  const { localParticipant } = useLocalParticipant();
  const isRaised = hasRaisedHand(localParticipant);
  return (
    <Toggle
      label={isRaised ? 'Lower hand' : 'Raise hand'}
      isOn={isRaised}
      isDisabled={!isConnected}
      icon={<Hand />}
      onClick={() => act(moveHand(invitation, isRaised ? 'down' : 'up'))}
    />
  );
}

function ReactionMenu({ act }: Act) {
  const room = useRoomContext();
  return (
    <Menu label="React" icon={<Smile />}>
      {(close) =>
        REACTIONS.map(({ kind, name, Icon }) => (
          <button
            key={kind}
            type="button"
            className="reaction-choice"
            aria-label={name}
            title={name}
            onClick={() => {
              close();
              act(sendReaction(room, kind));
            }}
          >
            <Icon size={26} aria-hidden="true" />
          </button>
        ))
      }
    </Menu>
  );
}

function isScreenQuestion({ message }: Error): boolean {
  return /user|denied/i.test(message);
}

/** Phones cannot share their screen. */
function canShareScreen(): boolean {
  return typeof navigator.mediaDevices?.getDisplayMedia === 'function';
}

type ToggleProps = {
  readonly id?: string;
  readonly label: string;
  readonly icon: ReactNode;
  readonly isOn?: boolean;
  readonly isOff?: boolean;
  readonly isDisabled?: boolean;
  readonly badge?: number;
  /** The number on the badge. */
  readonly counts?: string;
  readonly onClick: () => void;
};

function Toggle(props: ToggleProps) {
  const { id, label, icon, isOn, isOff, isDisabled, badge = 0, counts = 'unread', onClick } = props;
  return (
    <button
      type="button"
      id={id}
      className={isOff === true ? 'control off' : 'control'}
      aria-label={badge > 0 ? `${label} ${badge} ${counts}` : label}
      aria-pressed={isOn}
      disabled={isDisabled}
      title={label}
      onClick={onClick}
    >
      <span className="glyph" aria-hidden="true">
        {icon}
      </span>
      <span className="label">{label}</span>{' '}
      {badge > 0 && (
        <span className="badge" aria-hidden="true">
          {badge}
        </span>
      )}
    </button>
  );
}

type MenuProps = {
  readonly label: string;
  readonly icon: ReactNode;
  readonly children: (close: () => void) => ReactNode;
};

/** The browser closes a popover at Escape and at a press beside it, and gives the focus back. */
function Menu({ label, icon, children }: MenuProps) {
  const id = useId();
  const close = (): void => document.getElementById(id)?.hidePopover();
  return (
    <>
      <button type="button" className="control" aria-label={label} title={label} popoverTarget={id}>
        <span className="glyph" aria-hidden="true">
          {icon}
        </span>
        <span className="label">{label}</span>
      </button>
      <div id={id} popover="auto" className="menu">
        {children(close)}
      </div>
    </>
  );
}

type DeviceSelectProps = {
  readonly kind: MediaDeviceKind;
  readonly label: string;
  readonly onError: (error: string | undefined) => void;
};

function DeviceSelect({ kind, label, onError }: DeviceSelectProps) {
  const { devices, activeDeviceId, setActiveMediaDevice } = useMediaDeviceSelect({
    kind,
    onError: (error) => onError(describeDeviceError(error.name)),
  });
  if (devices.length === 0) return null;
  return (
    <label className="field">
      {label}
      <select value={activeDeviceId} onChange={(event) => void setActiveMediaDevice(event.target.value)}>
        {devices.map(({ deviceId, label: text }) => (
          <option key={deviceId} value={deviceId}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

type CaptionSwitchProps = Pick<Props, 'invitation' | 'isConnected' | 'onError'>;

/** Turns the live transcription of the room on and off. Everyone in the room sees its captions. */
function CaptionSwitch({ invitation, isConnected, onError }: CaptionSwitchProps) {
  const [isOn, setOn] = useState<boolean>();
  const [isBusy, setBusy] = useState(false);
  const flip = async (): Promise<void> => {
    setBusy(true);
    onError(undefined);
    try {
      setOn(await switchCaptions(invitation, isOn === true ? 'off' : 'on'));
    } catch (error) {
      onError(describeFailure(error));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    // The button works even if the state cannot be read. A click may have been answered before.
    readCaptions(invitation).then(
      (found) => setOn((known) => known ?? found),
      () => undefined,
    );
  }, [invitation]);
  return (
    <Toggle
      label="Captions"
      isOn={isOn === true}
      isDisabled={isBusy || !isConnected}
      icon={<Captions />}
      onClick={() => void flip()}
    />
  );
}

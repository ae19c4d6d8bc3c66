import { Eye, ShieldAlert } from 'lucide-react';
import type { Connection } from '../api/live-events.ts';
import { Status, type Tone } from '../parts/status.tsx';
import { useConsole } from './console-state.tsx';

const TONES: Readonly<Record<Connection, Tone>> = {
  connecting: 'neutral',
  live: 'good',
  away: 'warning',
  ended: 'bad',
};
const WORDS: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  away: 'Service away',
  ended: 'Console ended',
};

/** Which service this is: on every view, and in red where one has to be careful. */
export function ServiceBadge() {
  const { info, connection } = useConsole();
  return (
    <div className={info.isProtected ? 'service service-protected' : 'service'}>
      {info.isProtected && <ShieldAlert aria-hidden />}
      {info.profile !== null && <b className="service-name">{info.profile}</b>}
      <span className="service-url">{info.url}</span>
      {info.isProtected && <span className="tag">protected</span>}
      {info.isReadOnly && (
        <span className="tag">
          <Eye aria-hidden /> read-only
        </span>
      )}
      <Status tone={TONES[connection]}>{WORDS[connection]}</Status>
    </div>
  );
}

import {
  Activity,
  Captions,
  DoorOpen,
  Film,
  History,
  IdCard,
  Radio,
  ScrollText,
  Stethoscope,
  Webhook,
} from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';

const VIEWS = [
  { path: '/rooms', name: 'Rooms', Icon: DoorOpen },
  { path: '/sessions', name: 'Sessions', Icon: History },
  { path: '/recordings', name: 'Recordings', Icon: Film },
  { path: '/transcriptions', name: 'Transcriptions', Icon: Captions },
  { path: '/webhooks', name: 'Webhooks', Icon: Webhook },
  { path: '/events', name: 'Events', Icon: Activity },
  { path: '/ingress', name: 'Ingress', Icon: Radio },
  { path: '/audit', name: 'Audit', Icon: ScrollText },
  { path: '/doctor', name: 'Doctor', Icon: Stethoscope },
  { path: '/fiscal', name: 'Fiscal codes', Icon: IdCard },
] as const;

export function Navigation() {
  const [location] = useLocation();
  const nav = useRef<HTMLElement>(null);
  // On a telephone the links are a row that scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current link changes with the address
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [location]);
  return (
    <nav className="nav" aria-label="Views" ref={nav}>
      <ul>
        {VIEWS.map(({ path, name, Icon }) => {
          const isHere = location === path || location.startsWith(`${path}/`);
          return (
            <li key={path}>
              <Link href={path} aria-current={isHere ? 'page' : undefined}>
                <Icon aria-hidden />
                {name}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

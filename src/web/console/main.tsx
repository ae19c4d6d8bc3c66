import '../shared.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/views.css';
import './styles/cards.css';
import './styles/sessions.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  Activity,
  Ban,
  CalendarClock,
  Captions,
  Cast,
  ChartColumn,
  DoorOpen,
  Eye,
  Film,
  History,
  IdCard,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Radio,
  ScrollText,
  ShieldAlert,
  Stethoscope,
  Webhook,
} from 'lucide-react';
import { type ComponentType, type LazyExoticComponent, lazy, Suspense, useEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { SUBJECT_KINDS } from '../../explain/explanation.ts';
import { openSession, readInfo } from './api/console-calls.ts';
import type { Connection } from './api/live-events.ts';
import { Events } from './events/events-view.tsx';
import { READER_LANGUAGE, say } from './fiscal/reader-language.ts';
import { ChangeProvider } from './parts/changes.tsx';
import { Problem, ShownFault } from './parts/problem.tsx';
import { Status, type Tone } from './parts/status.tsx';
import { EmptyView, Loading } from './parts/view.tsx';
import { RoomView } from './rooms/room-view.tsx';
import { Rooms } from './rooms/rooms-view.tsx';
import { ConsoleProvider, useConsole } from './shell/console-state.tsx';
import { Shortcuts } from './shell/shortcuts.tsx';

const container = document.getElementById('page');

if (container !== null) {
  const root = createRoot(container);
  const queries = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000, networkMode: 'always' } },
  });
  open().then(
    (info) => {
      document.title = `${info.profile ?? new URL(info.url).host} · rtc console`;
      root.render(
        <QueryClientProvider client={queries}>
          <ConsoleProvider info={info}>
            <App />
          </ConsoleProvider>
        </QueryClientProvider>,
      );
    },
    (error: unknown) =>
      root.render(
        <main className="not-opened">
          <h1>rtc console</h1>
          <Problem error={error} />
        </main>,
      ),
  );
}

/** Removes the code of a new link from the address before anything is requested. */
async function open() {
  const code = new URLSearchParams(location.hash.replace(/^#/, '')).get('code');
  if (code === null) return await readInfo();
  history.replaceState(null, '', location.pathname);
  return await openSession(code);
}

/* Views that are not needed at the start are loaded when they are opened. */
const Overview = lazyView(async () => (await import('./overview/overview.tsx')).Overview);

const ExplainView = lazyView(async () => (await import('./explain/explain-view.tsx')).ExplainView);

const Sessions = lazyView(async () => (await import('./sessions/sessions-view.tsx')).Sessions);

const SessionView = lazyView(async () => (await import('./sessions/session-view.tsx')).SessionView);

const Audit = lazyView(async () => (await import('./audit/audit-view.tsx')).Audit);

const Recordings = lazyView(async () => (await import('./recordings/recordings-view.tsx')).Recordings);

const RecordingView = lazyView(async () => (await import('./recordings/recordings-view.tsx')).RecordingView);

const Transcriptions = lazyView(
  async () => (await import('./transcriptions/transcriptions-view.tsx')).Transcriptions,
);

const TranscriptionView = lazyView(
  async () => (await import('./transcriptions/transcription-view.tsx')).TranscriptionView,
);

const LiveTranscription = lazyView(
  async () => (await import('./transcriptions/transcription-view.tsx')).LiveTranscription,
);

const LiveTranscriptions = lazyView(
  async () => (await import('./transcriptions/transcriptions-view.tsx')).LiveTranscriptions,
);

const Blocks = lazyView(async () => (await import('./blocks/blocks-view.tsx')).Blocks);

const Webhooks = lazyView(async () => (await import('./webhooks/webhooks-view.tsx')).Webhooks);

const WebhookView = lazyView(async () => (await import('./webhooks/webhook-view.tsx')).WebhookView);

const Ingress = lazyView(async () => (await import('./ingress/ingress-view.tsx')).Ingress);

const ApiKeys = lazyView(async () => (await import('./keys/keys-view.tsx')).ApiKeys);

const Plans = lazyView(async () => (await import('./plans/plans-view.tsx')).Plans);

const Broadcasts = lazyView(async () => (await import('./broadcasts/broadcasts-view.tsx')).Broadcasts);

const UsageView = lazyView(async () => (await import('./usage/usage-view.tsx')).UsageView);

const FiscalCodes = lazyView(async () => (await import('./fiscal/fiscal-view.tsx')).FiscalCodes);

const Doctor = lazyView(async () => (await import('./doctor/doctor-view.tsx')).Doctor);

/** The whole page: the navigation and the current view. */
function App() {
  const { connection } = useConsole();
  return (
    <ChangeProvider>
      <a className="skip" href="#view">
        Skip to the view
      </a>
      <div className="shell">
        <header className="top">
          <Link href="/overview" className="brand" aria-label="rtc console: overview">
            <Mark />
            <span>
              rtc <span className="faint">console</span>
            </span>
          </Link>
          <Shortcuts views={VIEWS} />
          <ServiceBadge />
        </header>
        <Navigation />
        <main id="view" tabIndex={-1}>
          <Banner />
          <ShownFault value={connection === 'ended' || connection === 'away' ? connection : undefined}>
            <Views />
          </ShownFault>
        </main>
      </div>
    </ChangeProvider>
  );
}

/**
 * The view of the address. It is shown after the first event connection, because data that was read before could be outdated
 * without a notice.
 */
function Views() {
  const { connection } = useConsole();
  if (connection === 'connecting') return <Loading />;
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/">
          <Redirect to="/overview" replace />
        </Route>
        <Route path="/overview" component={Overview} />
        <Route path="/explain/:kind/:id" component={Explanations} />
        <Route path="/rooms" component={Rooms} />
        <Route path="/rooms/:room">{({ room }) => <RoomView room={decodeURIComponent(room)} />}</Route>
        <Route path="/events" component={Events} />
        <Route path="/sessions" component={Sessions} />
        <Route path="/sessions/:id">{({ id }) => <SessionView id={id} key={id} />}</Route>
        <Route path="/recordings" component={Recordings} />
        <Route path="/recordings/:id">
          {({ id }) => <RecordingView id={decodeURIComponent(id)} key={id} />}
        </Route>
        <Route path="/transcriptions" component={Transcriptions} />
        <Route path="/transcriptions/live" component={LiveTranscriptions} />
        <Route path="/transcriptions/live/:room">
          {({ room }) => <LiveTranscription room={decodeURIComponent(room)} key={room} />}
        </Route>
        <Route path="/transcriptions/:id">{({ id }) => <TranscriptionView id={id} key={id} />}</Route>
        <Route path="/webhooks" component={Webhooks} />
        <Route path="/webhooks/:id">{({ id }) => <WebhookView id={id} key={id} />}</Route>
        <Route path="/ingress" component={Ingress} />
        <Route path="/broadcasts" component={Broadcasts} />
        <Route path="/blocks" component={Blocks} />
        <Route path="/plans" component={Plans} />
        <Route path="/usage" component={UsageView} />
        <Route path="/keys" component={ApiKeys} />
        <Route path="/fiscal" component={FiscalCodes} />
        <Route path="/audit" component={Audit} />
        <Route path="/doctor" component={Doctor} />
        <Route component={NoSuchView} />
      </Switch>
    </Suspense>
  );
}

function Explanations({
  params: { kind, id },
}: {
  readonly params: { readonly kind: string; readonly id: string };
}) {
  const known = SUBJECT_KINDS.find((each) => each === kind);
  return known === undefined ? <NoSuchView /> : <ExplainView kind={known} id={decodeURIComponent(id)} />;
}

function NoSuchView() {
  return (
    <EmptyView title="There is no such view">
      <p>
        <Link href="/overview">Go to the overview</Link>
      </p>
    </EmptyView>
  );
}

/** An error of the whole page, such as a lost connection, while it lasts. */
function Banner() {
  const { connection, error } = useConsole();
  if (connection === 'live' || connection === 'connecting' || error === undefined) return null;
  return (
    <div className="banner">
      <Problem error={error} />
      {connection === 'away' && (
        <p className="faint">The views show what was last known. They go on by themselves when it is back.</p>
      )}
    </div>
  );
}

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

/** The name of the service on every view, in red for a protected one. */
function ServiceBadge() {
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

/**
 * Returns a view that is loaded when it is opened. If its file cannot be loaded, for example because the command line that
 * serves this page has ended, the view says so, and the rest of the page stays.
 */
function lazyView<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await load().catch(() => NotLoaded) }));
}

function NotLoaded() {
  return (
    <EmptyView title="This view could not be loaded">
      <p>Reload the page to try again.</p>
    </EmptyView>
  );
}

type NavigationEntry = {
  readonly path: string;
  readonly name: string;
  readonly Icon: LucideIcon;
  /** The language of the name if it differs from the language of the page. */
  readonly lang?: string;
};

/** The views in groups: what runs, what was, what programs get, and what is set up. */
const GROUPS: readonly (readonly [title: string, views: readonly NavigationEntry[]])[] = [
  [
    'Now',
    [
      { path: '/overview', name: 'Overview', Icon: LayoutDashboard },
      { path: '/rooms', name: 'Rooms', Icon: DoorOpen },
      { path: '/broadcasts', name: 'Broadcasts', Icon: Cast },
      { path: '/ingress', name: 'Ingress', Icon: Radio },
    ],
  ],
  [
    'History',
    [
      { path: '/sessions', name: 'Sessions', Icon: History },
      { path: '/recordings', name: 'Recordings', Icon: Film },
      { path: '/transcriptions', name: 'Transcriptions', Icon: Captions },
      { path: '/usage', name: 'Usage', Icon: ChartColumn },
    ],
  ],
  [
    'Programs',
    [
      { path: '/webhooks', name: 'Webhooks', Icon: Webhook },
      { path: '/events', name: 'Events', Icon: Activity },
      { path: '/keys', name: 'API keys', Icon: KeyRound },
      { path: '/audit', name: 'Audit', Icon: ScrollText },
    ],
  ],
  [
    'Set-up',
    [
      { path: '/plans', name: 'Plans', Icon: CalendarClock },
      { path: '/blocks', name: 'Blocks', Icon: Ban },
      { path: '/doctor', name: 'Doctor', Icon: Stethoscope },
      // The only view with a language of its own.
      { path: '/fiscal', name: say('Fiscal codes'), Icon: IdCard, lang: READER_LANGUAGE },
    ],
  ],
];

const VIEWS = GROUPS.flatMap(([, views]) => views);

/** The mark of the favicon. */
function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="7" className="mark-ground" />
      <path d="M7 12h10v8H7zM19 14l6-3v10l-6-3z" className="mark-camera" />
    </svg>
  );
}

function Navigation() {
  const [location] = useLocation();
  const nav = useRef<HTMLElement>(null);
  // On a telephone the links are a row that scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current link changes with the address
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [location]);
  return (
    <nav className="nav" aria-label="Views" ref={nav}>
      {GROUPS.map(([title, views]) => (
        <section key={title}>
          <h2 id={`nav-${title}`}>{title}</h2>
          <ul aria-labelledby={`nav-${title}`}>
            {views.map((view) => (
              <NavigationLink key={view.path} view={view} location={location} />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

type LinkProps = { readonly view: NavigationEntry; readonly location: string };

function NavigationLink({ view: { path, name, Icon, lang }, location }: LinkProps) {
  const isHere = location === path || location.startsWith(`${path}/`);
  return (
    <li>
      <Link href={path} lang={lang} aria-current={isHere ? 'page' : undefined}>
        <Icon aria-hidden />
        {name}
      </Link>
    </li>
  );
}

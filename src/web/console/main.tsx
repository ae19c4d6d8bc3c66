import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/views.css';
import './styles/cards.css';
import './styles/sessions.css';
import { openSession, readInfo } from './api/console-calls.ts';
import { Problem } from './parts/problem.tsx';
import { App } from './shell/app.tsx';
import { ConsoleProvider } from './shell/console-state.tsx';

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

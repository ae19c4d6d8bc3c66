import { Search } from 'lucide-react';
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react';

type View = { readonly path: string; readonly name: string };

type PaletteProps = { readonly views: readonly View[]; readonly onClose: () => void };

/* Loaded when it is opened. Without the command line that serves the page, nothing can be found. */
const Palette = lazy(async (): Promise<{ default: ComponentType<PaletteProps> }> => {
  const loaded = await import('./palette.tsx').catch(() => undefined);
  return { default: loaded?.Palette ?? (() => null) };
});

const KEYS = [
  ['Ctrl K', 'Search views, commands, rooms, people and ids'],
  ['/', 'Go to the search field of the view'],
  ['?', 'Show these keys'],
  ['Escape', 'Close what is open'],
] as const;

/** The search over everything, its button, and the keys of the page. */
export function Shortcuts({ views }: { readonly views: readonly View[] }) {
  const [opened, setOpened] = useState<'palette' | 'keys'>();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (document.querySelector('dialog[open]') !== null) return;
      const isPalette = (ctrlKey || metaKey) && key.toLowerCase() === 'k';
      const isTyping = target instanceof HTMLElement && target.matches('input, select, textarea');
      if (!isPalette && (isTyping || ctrlKey || metaKey || altKey)) return;
      if (isPalette) setOpened('palette');
      else if (key === '?') setOpened('keys');
      else if (key === '/') document.querySelector<HTMLElement>('#view input[type="search"]')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  const close = (): void => setOpened(undefined);
  return (
    <>
      <button
        type="button"
        className="search-all"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpened('palette')}
      >
        <Search aria-hidden /> <span className="search-words">Search</span> <kbd>Ctrl K</kbd>
      </button>
      {opened === 'palette' && (
        <Suspense fallback={null}>
          <Palette views={views} onClose={close} />
        </Suspense>
      )}
      {opened === 'keys' && <KeyList onClose={close} />}
    </>
  );
}

function KeyList({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="details">
        {KEYS.flatMap(([key, does]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
      </dl>
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

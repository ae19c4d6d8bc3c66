/*
 * Adds to the pages at /docs what a page without scripts cannot have: search, a switch for light and dark, buttons that copy
 * code, and on a site of several versions a choice among them. It runs before the page is painted, so that a chosen colour
 * does not flash.
 */

/** The address of the pages, such as `/docs`. */
const base = readBase(document.currentScript);

const THEMES: readonly string[] = ['system', 'light', 'dark'];

const THEME_KEY = 'rtc-docs-theme';

function readBase(script: HTMLOrSVGScriptElement | null): string {
  if (!(script instanceof HTMLScriptElement)) throw new Error('This script is not on a page.');
  return new URL(script.src).pathname.replace(/\/site\.js$/, '');
}

/** A browser may forbid pages to store anything. */
function readTheme(): string {
  try {
    return localStorage.getItem(THEME_KEY) ?? 'system';
  } catch {
    return 'system';
  }
}

function showTheme(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function prepareThemeButton(): void {
  const button = document.querySelector('#theme');
  if (button === null) return;
  const name = (theme: string): void => button.setAttribute('aria-label', `Colours: ${theme}`);
  name(readTheme());
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(readTheme()) + 1) % THEMES.length] ?? 'system';
    try {
      localStorage.setItem(THEME_KEY, next);
    } catch {
      // The choice holds for this page alone.
    }
    showTheme(next);
    name(next);
  });
}

/** The search is loaded when somebody first wants it. */
function openSearch(): void {
  const dialog = document.querySelector('#search-dialog');
  if (dialog instanceof HTMLDialogElement) {
    if (!dialog.open) dialog.showModal();
    return;
  }
  if (document.querySelector('#search-script') !== null) return;
  const script = document.createElement('script');
  script.id = 'search-script';
  script.src = `${base}/search.js`;
  document.head.append(script);
}

function prepareSearch(): void {
  document.querySelector('#search-button')?.addEventListener('click', openSearch);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
    const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
    if (!isShortcut && (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey))
      return;
    event.preventDefault();
    openSearch();
  });
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll('pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

/** A site of several versions has their list beside them. The service shows only its own. */
async function prepareVersions(): Promise<void> {
  const list = document.documentElement.dataset.versions;
  const shown = document.querySelector('.version');
  if (list === undefined || shown === null) return;
  const versions: readonly string[] = await (await fetch(list)).json();
  const select = document.createElement('select');
  select.className = 'version';
  select.setAttribute('aria-label', 'Version');
  for (const version of versions)
    select.append(new Option(version, version, false, version === shown.textContent));
  select.addEventListener('change', () =>
    location.assign(new URL(`${select.value}/`, new URL(list, location.href))),
  );
  shown.replaceWith(select);
}

showTheme(readTheme());

document.addEventListener('DOMContentLoaded', () => {
  prepareThemeButton();
  prepareSearch();
  addCopyButtons();
  void prepareVersions();
});

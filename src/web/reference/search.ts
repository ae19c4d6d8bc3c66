import MiniSearch from 'minisearch';

/*
 * Searches the pages at /docs in the browser, without a server: it reads all sections once and indexes them, which takes a
 * tenth of a second.
 */

/** A part of a page below one heading. The service writes the list. */
type Section = {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
};

const SHOWN = 20;

const SNIPPET = 160;

/** The address of the pages, such as `/docs`. */
const base = new URL(readSource(document.currentScript)).pathname.replace(/\/search\.js$/, '');

function readSource(script: HTMLOrSVGScriptElement | null): string {
  if (!(script instanceof HTMLScriptElement)) throw new Error('This script is not on a page.');
  return script.src;
}

const dialog = document.createElement('dialog');
dialog.id = 'search-dialog';
dialog.setAttribute('aria-label', 'Search');

const input = document.createElement('input');
input.type = 'search';
input.placeholder = 'Search the guide and the API';
input.setAttribute('aria-label', input.placeholder);
input.autocomplete = 'off';

const status = document.createElement('p');
status.setAttribute('role', 'status');

const results = document.createElement('ul');

dialog.append(input, status, results);
document.body.append(dialog);
dialog.showModal();

/** Indexes once. Titles count more than texts. */
async function indexSections(): Promise<(words: string) => readonly Section[]> {
  const all: readonly Section[] = await (await fetch(`${base}/search.json`)).json();
  const index = new MiniSearch({
    fields: ['title', 'page', 'text'],
    searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(all.map((section, id) => ({ id, ...section })));
  return (words) => index.search(words).flatMap(({ id }) => all[id] ?? []);
}

const loading = indexSections();

async function showResults(): Promise<void> {
  const words = input.value.trim();
  const find = await loading;
  // Something else may have been typed while the sections were loaded.
  if (words !== input.value.trim()) return;
  const found = words === '' ? [] : find(words);
  results.replaceChildren(...found.slice(0, SHOWN).map((section) => renderResult(section, words)));
  status.textContent = words === '' ? '' : describeCount(found.length);
}

function describeCount(count: number): string {
  if (count === 0) return 'Nothing is found. Fewer or other words may help.';
  return count > SHOWN ? `The first ${SHOWN} of ${count}` : `${count} found`;
}

function renderResult({ path, page, title, text }: Section, words: string): HTMLElement {
  const link = document.createElement('a');
  link.href = `${base}/${path}`;
  const name = document.createElement('b');
  name.textContent = title === page ? title : `${page}: ${title}`;
  const snippet = document.createElement('span');
  snippet.append(...markWords(cutSnippet(text, words), words));
  link.append(name, snippet);
  // A heading of the page on which the reader is loads nothing that would close the dialog.
  link.addEventListener('click', () => dialog.close());
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** Returns the beginnings of words as one pattern, so that `is` is not marked in `missing`. */
function toPattern(words: string): RegExp {
  const parts = words.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return new RegExp(`(?<![\\p{L}\\p{N}])(${parts.join('|') || '$^'})`, 'giu');
}

function cutSnippet(text: string, words: string): string {
  const start = Math.max(0, text.search(toPattern(words)) - SNIPPET / 3);
  const cut = text.slice(start, start + SNIPPET);
  return `${start > 0 ? '… ' : ''}${cut}${start + SNIPPET < text.length ? ' …' : ''}`;
}

function markWords(text: string, words: string): readonly (string | HTMLElement)[] {
  return text.split(toPattern(words)).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}

/** The arrows go through the results, Enter in the field opens the first one, Escape closes. */
function moveByKey(event: KeyboardEvent): void {
  const links = [...results.querySelectorAll('a')];
  if (event.key === 'Enter' && event.target === input) {
    links[0]?.click();
    return;
  }
  // Otherwise the first Escape would only empty the field.
  if (event.key === 'Escape') {
    event.preventDefault();
    dialog.close();
    return;
  }
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const next = links.findIndex((link) => link.matches(':focus')) + step;
  if (next < 0) input.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

input.addEventListener('input', () => void showResults());
dialog.addEventListener('keydown', moveByKey);
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close();
});

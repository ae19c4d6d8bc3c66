import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';

/** Texts that act if a page takes them for more than text. `mark` tells where one was found. */
type Form = (mark: string, elsewhere: string) => string;

export const FORMS: Readonly<Record<string, Form>> = {
  'an element': (mark) => `<x-stranger>${mark}</x-stranger><img src=x onerror=struck('${mark}')>`,
  'the end of a script': (mark) =>
    `${mark}</script></style></title></textarea><script>struck('${mark}')</script><x-stranger>`,
  'an attribute': (mark) =>
    `${mark}" x-stranger autofocus onfocus="struck('${mark}')" onmouseover="struck(1)" a="`,
  'an attribute in apostrophes': (mark) => `${mark}' x-stranger autofocus onfocus='struck("${mark}")' a='`,
  'a link of script': (mark) => `javascript:struck('${mark}')//`,
  'a page as a link': (mark) => `data:text/html,<script>opener.struck('${mark}')</script>`,
  'something from elsewhere': (mark, elsewhere) =>
    `${mark}<link rel=stylesheet href=${elsewhere}/${mark}><img x-stranger src=${elsewhere}/${mark}>`,
  Markdown: (mark, elsewhere) =>
    `[${mark}](javascript:struck('${mark}')) ![](${elsewhere}/${mark}) <x-stranger>`,
  'a drawing': (mark) =>
    `<svg x-stranger onload=struck('${mark}')><a href=javascript:struck('${mark}')>${mark}`,
  'a frame': (mark) => `<iframe x-stranger srcdoc="<script>parent.struck('${mark}')</script>">${mark}`,
  'a template': (mark) =>
    `{{constructor.constructor("struck('${mark}')")()}}\${struck('${mark}')}<x-stranger>${mark}`,
};

/** Makes the text of a form for a place, such as the name of a room. */
export type Writer = (place: string) => string;

export function createWriters(forms: readonly string[], elsewhere: string): readonly Writer[] {
  return forms.map((name, at) => (place) => FORMS[name]?.(`stranger-${at}-${place}`, elsewhere) ?? '');
}

const JUDGE = await readFile(new URL('judge.js', import.meta.url), 'utf8');

export type Judgement = {
  /** Pages that were looked at. */
  readonly pages: readonly string[];
  /** What was more than text, with the page. */
  readonly found: readonly string[];
  /** Scripts that ran, dialogs that were shown. */
  readonly struck: readonly string[];
  /** What the policy of a page had to stop, and requests to another server. */
  readonly stopped: readonly string[];
  /** The places whose text a page had. */
  readonly shown: ReadonlySet<string>;
  readonly look: (page: Page, name: string) => Promise<void>;
};

/** Watches a window for texts that act. The window is without pages so far. */
export async function watchWindow(window: BrowserContext): Promise<Judgement> {
  const judgement = {
    ...{ pages: [] as string[], found: [] as string[], struck: [] as string[], stopped: [] as string[] },
    shown: new Set<string>(),
  };
  await window.exposeBinding('struck', (_source, what) => judgement.struck.push(`a script: ${what}`));
  await window.addInitScript(JUDGE);
  window.on('page', (page) => {
    page.on('dialog', (dialog) => {
      judgement.struck.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (/violates.*(policy|directive)|Refused to/i.test(message.text()))
        judgement.stopped.push(message.text());
    });
    page.on('request', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) return;
      if (/stranger-\d/.test(request.url()) && new URL(request.url()).origin !== new URL(page.url()).origin)
        judgement.stopped.push(`a request: ${request.url()}`);
    });
  });
  return {
    ...judgement,
    look: async (page, name) => {
      const { found, shown } = await page.evaluate<{
        readonly found: readonly string[];
        readonly shown: readonly string[];
      }>('judge()');
      judgement.pages.push(name);
      judgement.found.push(...found.map((what) => `${name}: ${what}`));
      for (const mark of shown) judgement.shown.add(mark.split('-').at(-1) ?? '');
    },
  };
}

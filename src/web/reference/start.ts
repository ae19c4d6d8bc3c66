import { createWebCryptoSigner } from '../../client/transport/sign-request.ts';

/*
 * Starts the page on which a request is tried out: Scalar shows the document of one operation with its form for requests,
 * which are signed here. The key and the secret are kept only in this module's memory.
 */

type BuiltRequest = { readonly request: Request };

declare const Scalar: { createApiReference(selector: string, configuration: object): unknown };

let credentials: Credentials | undefined;

const button = element('#sign-button', HTMLButtonElement);

const reference = element('#reference', HTMLElement);

const operation = reference.dataset.operation ?? '';

const askForCredentials = async (): Promise<void> => {
  credentials = await openCredentialsDialog(credentials);
  button.textContent = credentials === undefined ? 'Sign requests' : `Signed as ${credentials.apiKey}`;
};

button.addEventListener('click', askForCredentials);

button.hidden = false;

/** The path under which this page's service is: empty, or `/rtc`. The browser knows it from the address of this script. */
const basePath = readBasePath(document.currentScript);

function readBasePath(script: HTMLOrSVGScriptElement | null): string {
  if (!(script instanceof HTMLScriptElement)) throw new Error('This script is not on a page.');
  return new URL(script.src).pathname.replace(/\/docs\/start\.js$/, '');
}

/** Returns whether the path needs a signature; public paths do not. */
function isSigned(url: string): boolean {
  const path = new URL(url).pathname.slice(basePath.length);
  return (path.startsWith('/v1/') && path !== '/v1/health') || path === '/metrics';
}

/** Loads the viewer after the page is painted, because it keeps the browser busy for a second or more. */
async function loadViewer(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement('script');
  script.src = `${basePath}/docs/scalar.js`;
  const loaded = new Promise((resolve, reject) => {
    script.addEventListener('load', resolve);
    script.addEventListener('error', () =>
      reject(new Error('The viewer of the reference could not be loaded.')),
    );
  });
  document.head.append(script);
  await loaded;
  showReference();
}

function showReference(): void {
  Scalar.createApiReference('#reference', {
    url: `${basePath}/docs/try/${operation}/document.json`,
    withDefaultFonts: false,
    hideClientButton: true,
    hiddenClients: true,
    persistAuth: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    onRequestBuilt: async ({ request }: BuiltRequest) => {
      if (!isSigned(request.url)) return;
      if (credentials === undefined) await askForCredentials();
      if (credentials !== undefined) await signRequest(request, credentials);
    },
  });
}

keepAccessible(reference);

/** Opens the form for requests as soon as the viewer has its button. The page says so until then. */
const shown = new MutationObserver(() => {
  const trial = [...reference.querySelectorAll('button')].find(({ textContent }) =>
    textContent.includes('Test Request'),
  );
  if (trial === undefined) return;
  shown.disconnect();
  element('#loading', HTMLElement).remove();
  trial.click();
});

shown.observe(reference, { childList: true, subtree: true });

/** Whoever closes the form is back at the description of the operation. */
document.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('.scalar-app-exit') !== null)
    location.assign(`${basePath}/docs/api/${operation}`);
});

void loadViewer();

/** Sets the three headers of the signed scheme. The path and the body are signed as the browser sends them. */
async function signRequest(request: Request, { apiKey, apiSecret }: Credentials): Promise<void> {
  const { pathname, search } = new URL(request.url);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = new Uint8Array(await request.clone().arrayBuffer());
  const sign = createWebCryptoSigner(apiSecret);
  const signature = await sign({ method: request.method, path: pathname + search, timestamp, body });
  request.headers.set('X-Api-Key', apiKey);
  request.headers.set('X-Service-Timestamp', timestamp);
  request.headers.set('X-Service-Signature', signature);
}

type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/**
 * Asks for the key and the secret, and resolves when the dialog closes: with the typed ones, with the earlier ones when it
 * was cancelled, and with undefined when they should be forgotten. The fields are emptied, so that nothing stays in the
 * page.
 */
async function openCredentialsDialog(current: Credentials | undefined): Promise<Credentials | undefined> {
  const dialog = element('#credentials', HTMLDialogElement);
  const key = element('#api-key', HTMLInputElement);
  const secret = element('#api-secret', HTMLInputElement);
  key.value = current?.apiKey ?? '';
  dialog.returnValue = 'cancel';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  const typed = { apiKey: key.value.trim(), apiSecret: secret.value.trim() };
  key.value = '';
  secret.value = '';
  if (dialog.returnValue === 'use') return typed;
  return dialog.returnValue === 'forget' ? undefined : current;
}

/** Returns an element of the page that always exists. */
function element<E extends Element>(selector: string, type: { new (): E }): E {
  const found = document.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`);
  return found;
}

/* Repairs controls of the viewer as they appear: some have no name or cannot be reached by keyboard. */

function keepAccessible(root: HTMLElement): void {
  let isPlanned = false;
  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      repair();
    });
  };
  // The dialog for trying out requests is beside the root.
  new MutationObserver(plan).observe(root.ownerDocument.body, { childList: true, subtree: true });
  plan();
}

function repair(): void {
  for (const code of document.querySelectorAll('pre > code:not([tabindex])'))
    code.setAttribute('tabindex', '0');
  for (const button of document.querySelectorAll('button[class*="copy"]:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy');
  // The button's name leaves out its visible text.
  for (const button of document.querySelectorAll('.show-more[aria-label]'))
    button.removeAttribute('aria-label');
  for (const editor of document.querySelectorAll('.cm-content:not([aria-label])'))
    editor.setAttribute('aria-label', 'Body');
  // It is reached by keyboard anyway; without the attribute, checks of accessibility do not see that.
  for (const editor of document.querySelectorAll('.cm-content[contenteditable="true"]:not([tabindex])'))
    editor.setAttribute('tabindex', '0');
  for (const editor of document.querySelectorAll('[role="combobox"]:not([aria-expanded])')) {
    editor.setAttribute('aria-expanded', 'false');
    editor.setAttribute('aria-controls', editor.id);
  }
  // A response is read-only: without a focusable element in it the keyboard could not scroll it.
  for (const scroller of document.querySelectorAll('.cm-scroller[tabindex="-1"]')) {
    if (scroller.querySelector('[contenteditable="true"]') === null) scroller.setAttribute('tabindex', '0');
  }
  for (const button of document.querySelectorAll('button[aria-controls]')) {
    const controlled = button.getAttribute('aria-controls') ?? '';
    if (document.getElementById(controlled) === null) button.removeAttribute('aria-controls');
  }
  for (const icon of document.querySelectorAll('button[role="none"][aria-label]'))
    icon.removeAttribute('role');
}

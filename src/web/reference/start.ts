import { createWebCryptoSigner } from '../../client/transport/sign-request.ts';
import { type Credentials, element, openCredentialsDialog } from './credentials-dialog.ts';
import { keepAccessible } from './repair-accessibility.ts';

/*
 * Starts the reference: Scalar shows the document, and requests of the user are signed here. The key and the secret are kept
 * only in this module's memory.
 */

type BuiltRequest = { readonly request: Request };
declare const Scalar: { createApiReference(selector: string, configuration: object): unknown };

let credentials: Credentials | undefined;

const button = element('#sign-button', HTMLButtonElement);
const reference = element('#reference', HTMLElement);

const askForCredentials = async (): Promise<void> => {
  credentials = await openCredentialsDialog(credentials);
  button.textContent = credentials === undefined ? 'Sign requests' : `Signed as ${credentials.apiKey}`;
};
button.addEventListener('click', askForCredentials);
button.hidden = false;

/** Whether the path needs a signature; public paths do not. */
function isSigned(url: string): boolean {
  const { pathname } = new URL(url);
  return (pathname.startsWith('/v1/') && pathname !== '/v1/health') || pathname === '/metrics';
}

/** Loads the viewer after the introduction is painted, because it keeps the browser busy for a second or more. */
async function loadViewer(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement('script');
  script.src = '/docs/scalar.js';
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
    url: '/docs/document.json',
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

/** The introduction is shown until the viewer has its own. */
const introduction = element('#introduction', HTMLElement);
const shown = new MutationObserver(() => {
  if (reference.querySelector('h1') === null) return;
  introduction.remove();
  shown.disconnect();
});
shown.observe(reference, { childList: true, subtree: true });

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

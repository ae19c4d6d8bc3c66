export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/**
 * Asks for the key and the secret, and resolves when the dialog closes: with the typed ones, with the earlier ones when it
 * was cancelled, and with undefined when they should be forgotten. The fields are emptied, so that nothing stays in the
 * page.
 */
export async function openCredentialsDialog(
  current: Credentials | undefined,
): Promise<Credentials | undefined> {
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
export function element<E extends Element>(selector: string, type: { new (): E }): E {
  const found = document.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`);
  return found;
}

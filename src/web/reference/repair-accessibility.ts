/* Repairs controls of the viewer as they appear: some have no name or cannot be reached by keyboard. */

export function keepAccessible(root: HTMLElement): void {
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

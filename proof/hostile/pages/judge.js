/* Runs in every page that may show the text of a stranger, before the page's own scripts. */
let asked = 0;
const send = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  // A request for news ends when there is some.
  const isWaiting = String(url).includes('wait=');
  if (isWaiting) return await send(url, init);
  asked += 1;
  try {
    return await send(url, init);
  } finally {
    asked -= 1;
  }
};

globalThis.judge = async () => {
  const QUIET_MS = 300;
  const LONGEST_MS = 2_500;
  await new Promise((resolve) => {
    const look = () => {
      if (asked > 0 || document.querySelector('.loading') !== null) timer = setTimeout(look, QUIET_MS);
      else resolve();
    };
    let timer = setTimeout(look, QUIET_MS);
    setTimeout(resolve, LONGEST_MS);
    new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(look, QUIET_MS);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  const elements = [...document.querySelectorAll('*')];
  const attributes = elements.flatMap((element) => [...element.attributes]);
  const describe = (what, found) => found.map((text) => `${what}: ${text.slice(0, 160)}`);
  return {
    found: [
      ...describe(
        'an element',
        elements.filter((each) => each.matches('x-stranger, [x-stranger]')).map(({ outerHTML }) => outerHTML),
      ),
      ...describe(
        'a handler',
        attributes.filter(({ name }) => /^on/i.test(name)).map(({ name, value }) => `${name}=${value}`),
      ),
      ...describe(
        'an address',
        attributes
          .filter(({ name }) => /^(href|src|action|formaction|data|srcdoc|xlink:href)$/i.test(name))
          .map(({ value }) => value)
          .filter(
            (value) =>
              /^\s*(javascript:|data:text|vbscript:)/i.test(value) ||
              (/stranger-\d/.test(value) && new URL(value, location.href).origin !== location.origin),
          ),
      ),
    ],
    shown: [...new Set(document.documentElement.outerHTML.match(/stranger-\d+-[a-z]+/g))],
  };
};

/* Runs in a hostile page: every way in which a page can send a request, and what it learns of the response. */
globalThis.tries = async (requests) => {
  const SILENT_MS = 3_000;
  const frame = document.createElement('iframe');
  frame.name = 'sink';
  document.body.append(frame);

  const fetched = (init) => async (request) => {
    const { method, url, body } = request;
    const response = await fetch(url, { method, body, credentials: 'include', ...init });
    return response.type !== 'opaque' && response.ok ? `read ${(await response.text()).length}` : 'nothing';
  };
  const loaded =
    (tag, attribute, others) =>
    ({ url }) =>
      new Promise((resolve) => {
        const element = Object.assign(document.createElement(tag), others);
        element.onload = () => resolve('read, by loading');
        element.onloadedmetadata = element.onload;
        element.onerror = () => resolve('nothing');
        element[attribute] = url;
        document.body.append(element);
      });
  const posted =
    (enctype) =>
    ({ method, url, body }) => {
      const form = Object.assign(document.createElement('form'), {
        method,
        action: url,
        enctype,
        target: 'sink',
      });
      const name = enctype === 'text/plain' ? `${body ?? '{}'}`.replace(/\}$/, ',"x":"') : 'name';
      form.append(Object.assign(document.createElement('input'), { name, value: '"}' }));
      document.body.append(form);
      form.submit();
      return 'nothing';
    };
  const beacon =
    (pack) =>
    ({ url, body = '' }) => {
      navigator.sendBeacon(url, pack(body));
      return 'nothing';
    };
  const opened =
    (Kind, scheme) =>
    ({ url }) =>
      new Promise((resolve) => {
        const connection = new Kind(
          url.replace(/^http/, scheme),
          Kind === EventSource ? { withCredentials: true } : [],
        );
        connection.onopen = () => resolve('read, by connecting');
        connection.onerror = () => resolve('nothing');
      });
  const ways = {
    'a fetch with CORS': fetched({ mode: 'cors', headers: { 'content-type': 'text/plain' } }),
    'a fetch of JSON': fetched({ mode: 'cors', headers: { 'content-type': 'application/json' } }),
    'a fetch with a token': fetched({
      headers: { 'content-type': 'application/json', authorization: 'Bearer null' },
    }),
    'a fetch without CORS': fetched({ mode: 'no-cors' }),
    'a fetch that is kept alive': fetched({ mode: 'no-cors', keepalive: true }),
    'an XMLHttpRequest': ({ method, url, body }) =>
      new Promise((resolve) => {
        const request = new XMLHttpRequest();
        request.open(method, url);
        request.withCredentials = true;
        request.onloadend = () =>
          resolve(
            request.status >= 200 && request.status < 400 ? `read ${request.responseText.length}` : 'nothing',
          );
        request.send(body);
      }),
    'a beacon': beacon((body) => body),
    'a beacon of JSON': beacon((body) => new Blob([body], { type: 'application/json' })),
    'a form': posted('application/x-www-form-urlencoded'),
    'a form with files': posted('multipart/form-data'),
    'a form of text': posted('text/plain'),
    'a picture': loaded('img', 'src', {}),
    'a picture with CORS': loaded('img', 'src', { crossOrigin: 'use-credentials' }),
    'a script': loaded('script', 'src', {}),
    'a module': loaded('script', 'src', { type: 'module' }),
    'a style sheet': loaded('link', 'href', { rel: 'stylesheet' }),
    'a video': loaded('video', 'src', {}),
    'an event stream': opened(EventSource, 'http'),
    'a WebSocket': opened(WebSocket, 'ws'),
  };
  const silence = () => new Promise((resolve) => setTimeout(() => resolve('nothing'), SILENT_MS));
  const all = requests.flatMap((request) =>
    Object.entries(ways).map(async ([way, send]) => {
      const tried = (async () => send(request))().catch(() => 'nothing');
      const { method, url } = request;
      return { what: `${way}: ${method} ${url}`, outcome: await Promise.race([tried, silence()]) };
    }),
  );
  return await Promise.all(all);
};

/* What a page can read of another one that it has opened, and what it can tell it. */
globalThis.openOther = async (url) => {
  const other = open(url, 'other');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const read = [];
  const look = (name, at) => {
    try {
      const value = at(other);
      if (value !== undefined && value !== null) read.push(`${name}: ${String(value).slice(0, 80)}`);
    } catch {}
  };
  look('address', (w) => (w.location.href === 'about:blank' ? undefined : w.location.href));
  look('document', (w) => w.document.body?.textContent || undefined);
  look('storage', (w) => JSON.stringify(w.localStorage));
  look('name of a frame', (w) => w.frames[0]?.name);
  for (const message of ['x', { type: 'close' }, { theme: 'x' }, { code: 'x' }, '{"action":"x"}'])
    other.postMessage(message, '*');
  look('a script', (w) => w.eval('1'));
  look('its address, set to a script', (w) => {
    w.location = "javascript:opener.struck('a page that was opened')";
  });
  return read;
};

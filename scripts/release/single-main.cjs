/*
 * The main script of the single executable file, within Node: puts the package beside the caches of its user on the first
 * start, and loads its launcher from there. Files are needed because the package loads parts of itself when they are used.
 */
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { homedir } = require('node:os');
const { dirname, join } = require('node:path');
const sea = require('node:sea');

const { id, files } = JSON.parse(sea.getAsset('single.json', 'utf8'));
const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rtc', 'single');
const folder = join(parent, id);

// The folder gets its final name when it is complete, so that an interrupted start leaves no incomplete folder.
function unpack() {
  // Only this user may write there, because the code in it is run.
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const unfinished = mkdtempSync(join(parent, '.unpacking-'));
  for (const file of files) {
    const path = join(unfinished, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, new Uint8Array(sea.getAsset(file)));
  }
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has unpacked it at the same time.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

if (!existsSync(folder)) unpack();
// A process that this one starts is given the script that it is to run, as Node itself would be.
const given = process.argv[2];
const isScript = given?.startsWith(folder);
const script = isScript ? given : join(folder, 'bin', 'rtc.js');
process.argv.splice(1, isScript ? 2 : 1, script);
createRequire(script)(script);

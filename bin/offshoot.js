#!/usr/bin/env node
// Entry of the command line: the bundle; in a checkout whose sources have changed since it was made, the sources.
// Imports come before everything else: what an older Node does not have may only be asked for after the check.
import path from 'node:path';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `error: offshoot needs Node 24.11 or newer, and this is Node ${process.versions.node}: install a newer one (https://nodejs.org). In a checkout, "npx offshoot" uses the one that npm installed.`,
  );
  process.exit(1);
}

// An import would also load what these modules export and hardly anybody needs, before every command.
const { existsSync, readFileSync, statSync } = process.getBuiltinModule('node:fs');
const { enableCompileCache } = process.getBuiltinModule('node:module');
const root = path.dirname(import.meta.dirname);

/** Whether the sources, where there are any, are as they were when the bundle was made. */
function isBundleCurrent() {
  if (!existsSync(path.join(root, 'src'))) return true;
  try {
    const states = Object.entries(JSON.parse(readFileSync(path.join(root, 'dist/sources.json'), 'utf8')));
    return states.every(([file, state]) => {
      const { size, mtimeMs } = statSync(path.join(root, file));
      return state === `${size} ${mtimeMs}`;
    });
  } catch {
    // No bundle, or a source that it was made from is gone.
    return false;
  }
}

// What is compiled is kept for the next start; where there is no place for it, every start compiles.
const { XDG_CACHE_HOME, HOME } = process.env;
const cache = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'));
if (cache) enableCompileCache(path.join(cache, 'offshoot', 'compiled'));
const isUp = process.argv[2] === 'up';
// From here on, Node reads the well-known authorities beside this thread: the server need not wait for them.
if (isUp) process.getBuiltinModule('node:tls');
const bundled = isUp ? '../dist/up.js' : '../dist/cli.js';
const { main } = await import(isBundleCurrent() ? bundled : '../src/cli/main.ts');
await main(process.argv);

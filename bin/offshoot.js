#!/usr/bin/env node
// Entry of the command line: the sources in a checkout, the bundle in a published package.
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `offshoot needs Node 24.11 or newer; this is ${process.versions.node}. In a checkout, "npx offshoot" uses the one that npm installed.`,
  );
  process.exit(1);
}
const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import(existsSync(source) ? source.href : '../dist/cli.js');
await main(process.argv);

// Bundles the command line and the library entries into dist/, with type declarations beside them.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundle } from './bundle.ts';
import { bundledPackages } from './bundled-packages.ts';
import { linkCommands } from './link-commands.ts';
import { stampBundle } from './source-states.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
await import('./openapi.ts');
const started = Date.now();
rmSync(dist, { recursive: true, force: true });

const inputs = await bundle(dist, {
  watchable: 'src/watchable/index.ts',
  kube: 'src/kube/index.ts',
  controller: 'src/controller/index.ts',
  embedded: 'src/embedded/index.ts',
});
const packages = bundledPackages(root, inputs);
const licences = packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
writeFileSync(path.join(dist, 'LICENSES.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`));
const list = packages.map(({ text: _text, ...each }) => each);
writeFileSync(path.join(dist, 'packages.json'), `${JSON.stringify(list, null, 2)}\n`);

const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
stampBundle(root, started);
linkCommands(root);

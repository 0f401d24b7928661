// Bundles the command line and the library entries into dist/, with type declarations beside them.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundle } from './bundle.ts';
import { bundledPackages } from './bundled-packages.ts';
import { linkCommands } from './link-commands.ts';

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
stamp();
linkCommands(root);

/** Notes what the bundle was made from: bin/offshoot.js uses it only as long as that is unchanged. */
function stamp(): void {
  const all = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  // All of them, for some are not in the bundle but made what is.
  const sources = all.filter(
    (file) => /\.(tsx?|json|css|html|svg)$/.test(file) && !/\.test\.ts$|\btest(ing|data)\b/.test(file),
  );
  const states = sources.toSorted().map((file): [string, string] => {
    const { size, mtimeMs } = statSync(path.join(root, 'src', file));
    // Written while the bundle was made: nobody knows which state is in it.
    return [`src/${file}`, mtimeMs >= started ? '' : `${size} ${mtimeMs}`];
  });
  writeFileSync(path.join(dist, 'sources.json'), JSON.stringify(Object.fromEntries(states)));
}

// Bundles the command line and the library entries into dist/, with type declarations beside them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundle } from './bundle.ts';
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
writeFileSync(path.join(dist, 'LICENSES.txt'), licenses(inputs));

const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
stamp();
linkCommands(root);

/** The licenses of the packages that are in the bundle. */
function licenses(files: readonly string[]): string {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[0] ?? []));
  const texts = [...packages].toSorted().map((each) => {
    const directory = path.resolve(root, each);
    const { name, version } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    const files = readdirSync(directory).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    return [`${name} ${version}`, ...files.map((file) => readFileSync(path.join(directory, file), 'utf8'))].join(
      '\n\n',
    );
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

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

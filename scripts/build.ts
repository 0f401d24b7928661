// Bundles the command line and the library entries into dist/, with type declarations beside them.
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
await import('./openapi.ts');
rmSync(path.join(root, 'dist'), { recursive: true, force: true });

await build({
  absWorkingDir: root,
  entryPoints: {
    cli: 'src/cli/main.ts',
    watchable: 'src/watchable/index.ts',
    kube: 'src/kube/index.ts',
    controller: 'src/controller/index.ts',
    embedded: 'src/embedded/index.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
});

// Data that is read at run time stands beside the code that reads it, in the bundle as in the sources.
for (const file of ['openapi.json', 'descriptions.json']) {
  copyFileSync(path.join(root, 'src/embedded/kinds', file), path.join(root, 'dist', file));
}

const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });

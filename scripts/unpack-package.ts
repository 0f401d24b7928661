// Packs the npm package and unpacks it elsewhere, like an installation.
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** Unpacks the package into a folder of `dir`, with its dependencies; `size` is that of the archive. */
export function unpackPackage(dir: string): { readonly folder: string; readonly size: number } {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', dir];
  const packed = execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
  const [{ filename, size }] = JSON.parse(packed) as [{ filename: string; size: number }];
  execFileSync('tar', ['-xzf', path.join(dir, filename), '-C', dir]);
  const folder = path.join(dir, 'package');
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return { folder, size };
}

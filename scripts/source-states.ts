// Records the source files of the bundle. bin/offshoot.js uses the bundle only while they are unchanged, and
// `npm install` (also the one that npx runs in a checkout) rebuilds it only when one has changed.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const STAMP = 'dist/sources.json';

/** Records the sources of the bundle. Sources that changed since `started` are recorded as unknown. */
export function stampBundle(root: string, started: number): void {
  // If a file was written during the build, either version may be in the bundle.
  const states = statesOf(root).map(({ file, size, mtimeMs }): [string, string] => [
    file,
    mtimeMs >= started ? '' : `${size} ${mtimeMs}`,
  ]);
  writeFileSync(path.join(root, STAMP), JSON.stringify(Object.fromEntries(states)));
}

export function isBundleCurrent(root: string): boolean {
  try {
    const stamped = JSON.parse(readFileSync(path.join(root, STAMP), 'utf8')) as Readonly<Record<string, string>>;
    const states = statesOf(root);
    return (
      states.length === Object.keys(stamped).length &&
      states.every(({ file, size, mtimeMs }) => stamped[file] === `${size} ${mtimeMs}`)
    );
  } catch {
    // There is no bundle yet.
    return false;
  }
}

interface SourceState {
  readonly file: string;
  readonly size: number;
  readonly mtimeMs: number;
}

function statesOf(root: string): readonly SourceState[] {
  const all = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  // All sources, because some are not in the bundle but generate parts of it.
  const sources = all.filter(
    (file) => /\.(tsx?|json|css|html|svg)$/.test(file) && !/\.test\.ts$|\btest(ing|data)\b/.test(file),
  );
  return ['package.json', ...sources.toSorted().map((file) => `src/${file}`)].map((file) => {
    const { size, mtimeMs } = statSync(path.join(root, file));
    return { file, size, mtimeMs };
  });
}

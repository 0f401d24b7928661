// The files of the page. A build puts what was built in place of this code (scripts/bundle.ts).
import type { Assets } from './build.ts';

let built: Promise<Assets> | undefined;

/** All files of the page, by path. */
export function loadAssets(): Promise<Assets> {
  return (built ??= import('./build.ts').then(async ({ buildPage }) => (await buildPage()).assets));
}

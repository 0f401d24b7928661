// The files of the page. scripts/bundle.ts replaces this module by the built files.
import type { Assets } from './build.ts';

let built: Promise<Assets> | undefined;

/** All files of the page, by path. */
export function loadAssets(): Promise<Assets> {
  return (built ??= import('./build.ts').then(async ({ buildPage }) => (await buildPage()).assets));
}

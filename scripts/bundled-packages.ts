// Lists the npm packages in the bundle. build.ts writes the list and their licences to dist/; the bill of materials of
// the image is made from it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
}

/** The packages of the source files of a bundle, given as paths relative to the project. */
export function bundledPackages(
  root: string,
  files: readonly string[],
): (BundledPackage & { readonly text: string })[] {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[0] ?? []));
  return [...folders].toSorted().map((folder) => {
    const directory = path.resolve(root, folder);
    const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as BundledPackage;
    const { name, version, license } = manifest;
    const texts = readdirSync(directory)
      .filter((file) => /^(licen[cs]e|notice)/i.test(file))
      .map((file) => readFileSync(path.join(directory, file), 'utf8'));
    return { name, version, license, text: texts.join('\n\n') };
  });
}

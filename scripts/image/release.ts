// The release image: Node with its libraries, and the bundle in dist/. No shell, no package manager, not root. Made by
// `npm run image` and deploy/Dockerfile; the tests on the real node run it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { cachedFile } from '../../test/programs/cached-file.ts';
import { cacheFolder, programsOf } from '../../test/programs/programs.ts';
import type { BundledPackage } from '../bundled-packages.ts';
import { withoutSymbols } from './elf.ts';
import { gzipLayer, imageArchive } from './oci.ts';
import type { ImageConfig } from './oci.ts';
import { imageLock, imageParts } from './parts.ts';
import type { Architecture } from './parts.ts';
import { spdxDocument } from './sbom.ts';
import { readTree } from '../../src/cli/support-bundle/tar.ts';
import type { TarEntry } from '../../src/cli/support-bundle/tar.ts';

const project = path.resolve(import.meta.dirname, '../..');

const { version, license } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly license: string;
};

export const RELEASE_VERSION = version;

/** The image configuration; deploy/Dockerfile has the same. */
export const RELEASE_CONFIG = {
  entrypoint: ['/usr/local/bin/node', '/app/bin/offshoot.js'],
  user: '65532:65532',
  workingDir: '/app',
  // By default, each thread keeps memory of its own that others could use, and free memory is kept once more was used.
  env: ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=65536', 'MALLOC_TRIM_THRESHOLD_=65536'],
  labels: {
    'org.opencontainers.image.title': 'offshoot',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
  },
} as const satisfies ImageConfig;

/** The archive of the image for the given architectures. Their parts must have been fetched. */
export function releaseArchive(name: string, architectures: readonly Architecture[]): Buffer {
  const images = architectures.map((architecture) => ({
    ...RELEASE_CONFIG,
    architecture,
    // Two layers, because the larger one rarely changes between releases.
    layers: [gzipLayer(baseFiles(architecture), cachedGzip), gzipLayer(appFiles(architecture))],
  }));
  return imageArchive(name, images);
}

/** Caches the compressed base layer, because compressing it takes longer than everything else. */
function cachedGzip(content: Buffer, digest: string): Buffer {
  const file = path.join(cacheFolder('images'), `layer-${digest.slice('sha256:'.length)}.gz`);
  return readFileSync(cachedFile(file, (target) => writeFileSync(target, gzipSync(content, { level: 6 }))));
}

/** All files of the image. */
export function releaseFiles(architecture: Architecture): readonly TarEntry[] {
  const files = new Map([...baseFiles(architecture), ...appFiles(architecture)].map((each) => [each.name, each]));
  return [...files.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The third-party files: Node and the libraries that it is linked with. */
function baseFiles(architecture: Architecture): readonly TarEntry[] {
  const parts = programsOf(imageParts(architecture));
  const debian = readTree(path.join(parts, 'debian')).filter(
    ({ name, type }) => type !== 'directory' && isNeeded(name),
  );
  return withFolders([
    ...debian,
    file('usr/local/bin/node', withoutSymbols(readFileSync(path.join(parts, 'node'))), 0o755),
    file('usr/share/doc/node/LICENSE', readFileSync(path.join(parts, 'node-LICENSE'))),
    // Some libraries require that the user has a name.
    file('etc/passwd', 'root:x:0:0:root:/root:/sbin/nologin\noffshoot:x:65532:65532:offshoot:/tmp:/sbin/nologin\n'),
    file('etc/group', 'root:x:0:\noffshoot:x:65532:\n'),
    { name: 'tmp', type: 'directory', mode: 0o1777 },
  ]);
}

/** Keeps libraries and licences, and omits documentation, character sets and debugging files. */
function isNeeded(name: string): boolean {
  if (name.startsWith('usr/share/')) return /^usr\/share\/doc\/[^/]+(\/copyright)?$/.test(name);
  return !/^(etc|usr\/lib\/[^/]+\/(gconv|audit))\//.test(name);
}

function appFiles(architecture: Architecture): readonly TarEntry[] {
  const dist = readTree(path.join(project, 'dist')).filter(({ name, type }) => type === 'file' && isPublished(name));
  const list = dist.find(({ name }) => name === 'packages.json');
  if (list === undefined) throw new Error('dist/ is of an older version, or not built: run `npm run build`');
  const packages = JSON.parse(list.content!.toString()) as BundledPackage[];
  const bill = spdxDocument({ version, architecture, lock: imageLock, packages });
  const copied = ['LICENSE', 'bin/offshoot.js', 'package.json'];
  return withFolders([
    ...dist.map((each) => ({ ...each, name: `app/dist/${each.name}` })),
    ...copied.map((name) => file(`app/${name}`, readFileSync(path.join(project, name)))),
    file('usr/share/sbom/offshoot.spdx.json', `${JSON.stringify(bill, null, 2)}\n`),
  ]);
}

/** Omits files for developers. sources.json contains timestamps of the checkout. */
function isPublished(name: string): boolean {
  return !name.startsWith('types/') && !name.endsWith('.map') && name !== 'sources.json';
}

function file(name: string, content: string | Buffer, mode = 0o644): TarEntry {
  return { name, type: 'file', mode, content: Buffer.from(content) };
}

/** Adds parent folders, sorts the entries, and sets modes that do not depend on the checkout. */
function withFolders(entries: readonly TarEntry[]): readonly TarEntry[] {
  const all = new Map<string, TarEntry>();
  for (const entry of entries) {
    for (let folder = path.dirname(entry.name); folder !== '.'; folder = path.dirname(folder))
      all.set(folder, { name: folder, type: 'directory', mode: 0o755 });
    const mode = (entry.mode & 0o100) === 0 ? 0o644 : 0o755;
    all.set(entry.name, entry.type === 'file' ? { ...entry, mode } : entry);
  }
  return [...all.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

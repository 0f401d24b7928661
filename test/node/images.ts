// Builds the images of the node's pods from the fetched programs. Archives of what never changes are cached; Offshoot's
// own image is built from the bundle in `dist/` each time.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hostArchitecture, makeImage } from '../../scripts/image/oci.ts';
import type { ImageOptions } from '../../scripts/image/oci.ts';
import type { Architecture } from '../../scripts/image/parts.ts';
import { releaseArchive } from '../../scripts/image/release.ts';
import { coredns } from '../programs/coredns.ts';
import { debian } from '../programs/debian.ts';
import { envoy } from '../programs/envoy.ts';
import { istiod, istioNode, istioVersion } from '../programs/istio.ts';
import { cachedFile } from '../programs/cached-file.ts';
import { cacheFolder, programsOf } from '../programs/programs.ts';
import { toolbox } from '../programs/toolbox.ts';
import { toolboxImage } from './addresses.ts';

/** A file or folder on this machine → its path in the image. */
type Contents = Readonly<Record<string, string>>;

interface ImageSource extends ImageOptions {
  readonly contents: Contents;
  /** Includes the C library and the dynamic linker. */
  readonly dynamic?: boolean;
  /** Called when all contents have been copied. */
  readonly finish?: (root: string) => void;
}

/** The archives to import: for every node, for Istio, and web servers that answer with the name of their image. */
export function imageArchives({ istio, web }: { readonly istio: boolean; readonly web: readonly string[] }): string[] {
  return [toolboxSource(), corednsSource(), ...(istio ? istioSources() : []), ...web.map(webSource)].map(cachedArchive);
}

/** The images of Istio under another tag, to simulate another version. */
export function istioAliases(tag: string): [alias: string, image: string][] {
  return istioSources().map(({ name }) => [name.replace(/:.*/, `:${tag}`), name]);
}

/** Writes the release image, from the current `dist/`. */
export function writeOffshootArchive(target: string): void {
  writeFileSync(target, releaseArchive(offshootImage, [hostArchitecture as Architecture]));
}

export const offshootImage = 'localhost/offshoot:test';

function toolboxSource(): ImageSource {
  return {
    name: toolboxImage,
    contents: {
      [path.join(programsOf(toolbox), 'toolbox')]: 'usr/local/bin/toolbox',
      [path.join(programsOf(debian), 'tools/bin/busybox')]: 'bin/busybox',
    },
    dynamic: true,
    entrypoint: ['/usr/local/bin/toolbox'],
    finish: (root) => {
      for (const name of ['sh', 'ls', 'cat', 'wget', 'nslookup', 'sleep'])
        symlinkSync('busybox', path.join(root, 'bin', name));
    },
  };
}

/** `orders:2`, which answers requests with the header `x-image: orders:2`. */
function webSource(name: string): ImageSource {
  return {
    name: fullName(name),
    contents: { [path.join(programsOf(toolbox), 'toolbox')]: 'toolbox' },
    entrypoint: ['/toolbox', 'web'],
    finish: (root) => {
      mkdirSync(path.join(root, 'etc'));
      writeFileSync(path.join(root, 'etc/image'), name);
    },
  };
}

/** The name that containerd uses for an image such as `orders:2`. */
export function fullName(image: string): string {
  return image.includes('/') ? image : `docker.io/library/${image}`;
}

function corednsSource(): ImageSource {
  return {
    name: 'localhost/coredns:test',
    contents: { [path.join(programsOf(coredns), 'coredns')]: 'coredns' },
    entrypoint: ['/coredns'],
  };
}

function istioSources(): ImageSource[] {
  const tools = path.join(programsOf(debian), 'tools');
  return [
    {
      name: `localhost/pilot:${istioVersion}`,
      contents: { [path.join(programsOf(istiod), 'pilot-discovery')]: 'usr/local/bin/pilot-discovery' },
      entrypoint: ['/usr/local/bin/pilot-discovery'],
      user: '1337:1337',
    },
    {
      name: `localhost/proxyv2:${istioVersion}`,
      contents: {
        [path.join(programsOf(istioNode), 'pilot-agent')]: 'usr/local/bin/pilot-agent',
        [path.join(programsOf(istioNode), 'envoy_bootstrap.json')]: 'var/lib/istio/envoy/envoy_bootstrap_tmpl.json',
        [path.join(programsOf(envoy), 'envoy')]: 'usr/local/bin/envoy',
        [path.join(tools, 'usr')]: 'usr',
        [path.join(tools, 'lib')]: 'lib',
        [path.join(tools, 'bin')]: 'bin',
      },
      dynamic: true,
      entrypoint: ['/usr/local/bin/pilot-agent'],
    },
  ];
}

function cachedArchive(source: ImageSource): string {
  const name = source.name.replace(/^.*\//, '').replace(':', '-');
  const archive = `${name}-${fingerprint(Object.keys(source.contents), source)}.tar`;
  return cachedFile(path.join(cacheFolder('images'), archive), (target) => writeFileSync(target, assemble(source)));
}

/** A hash of the files and of how the image is built. */
function fingerprint(files: readonly string[], source?: ImageSource): string {
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(file);
    return [file, size, mtimeMs];
  });
  return createHash('sha256')
    .update(JSON.stringify([states, source, String(source?.finish)]))
    .digest('hex')
    .slice(0, 12);
}

function assemble(source: ImageSource): Buffer {
  const root = mkdtempSync(path.join(tmpdir(), 'offshoot-image-'));
  try {
    if (source.dynamic === true) copyInto(root, { [path.join(programsOf(debian), 'base')]: '.' });
    copyInto(root, source.contents);
    mkdirSync(path.join(root, 'tmp'), { recursive: true });
    chmodSync(path.join(root, 'tmp'), 0o1777);
    source.finish?.(root);
    return makeImage(root, source);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function copyInto(root: string, contents: Contents): void {
  for (const [from, to] of Object.entries(contents)) {
    const target = path.join(root, to);
    mkdirSync(path.dirname(target), { recursive: true });
    cpSync(from, target, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  }
}

/** Leaves out documentation and character sets, the largest part of Debian's packages. */
function isNeeded(file: string): boolean {
  return !/\/usr\/(share|lib\/[^/]+\/gconv|lib\/cni)(\/|$)/.test(file);
}

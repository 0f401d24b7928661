// Makes container images as reproducible OCI archives, without a container engine. Used by `npm run image` and for the
// images of the test node.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { readTree, tar } from '../../src/cli/support-bundle/tar.ts';
import type { TarEntry } from '../../src/cli/support-bundle/tar.ts';

export interface ImageConfig {
  readonly entrypoint?: readonly string[];
  /** `KEY=VALUE` each. */
  readonly env?: readonly string[];
  /** User id, or `user:group`; root otherwise. */
  readonly user?: string;
  readonly workingDir?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The Go name: `amd64`, `arm64`. */
  readonly architecture?: string;
}

export interface ImageOptions extends ImageConfig {
  /** The image reference: `localhost/offshoot:test`. */
  readonly name: string;
}

/** The image of one platform. */
export interface PlatformImage extends ImageConfig {
  /** From the bottom up. */
  readonly layers: readonly Layer[];
}

export interface Layer {
  /** The digest of the uncompressed content. */
  readonly diffId: string;
  readonly mediaType: string;
  readonly blob: Blob;
}

interface Blob {
  readonly digest: string;
  readonly data: Buffer;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** The architecture of this machine. */
export const hostArchitecture = architectures[process.arch] ?? process.arch;
export const DEFAULT_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const mediaType = (kind: string): string => `application/vnd.oci.image.${kind}`;

/** An uncompressed layer: fast to make and to import. */
function plainLayer(entries: readonly TarEntry[]): Layer {
  const content = blob(tar(entries));
  return { diffId: content.digest, mediaType: mediaType('layer.v1.tar'), blob: content };
}

/**
 * A compressed layer: small to download. Level and header are fixed, so that the bytes depend only on the content and
 * on the processor architecture.
 */
export function gzipLayer(
  entries: readonly TarEntry[],
  compress: (content: Buffer, digest: string) => Buffer = (content) => gzipSync(content, { level: 6 }),
): Layer {
  const { digest, data } = blob(tar(entries));
  return { diffId: digest, mediaType: mediaType('layer.v1.tar+gzip'), blob: blob(compress(data, digest)) };
}

/** The archive of an image with the folder as its root file system. */
export function makeImage(folder: string, { name, ...config }: ImageOptions): Buffer {
  return imageArchive(name, [{ ...config, layers: [plainLayer(readTree(folder))] }]);
}

/** One archive of all images: with several, an import takes the one of its own platform. */
export function imageArchive(name: string, images: readonly PlatformImage[]): Buffer {
  const platforms = images.map(platformBlobs);
  const [first] = platforms;
  // The name refers either to the image or to the index of several images.
  const list = platforms.length === 1 ? undefined : index(platforms.map(({ descriptor: each }) => each));
  const named = list === undefined ? first!.descriptor : descriptor(list, mediaType('index.v1+json'));
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
  const blobs = [...platforms.flatMap((each) => each.blobs), ...(list ? [list] : [])];
  const unique = new Map(blobs.map((each) => [each.digest, each]));
  return tar([
    { name: 'blobs', type: 'directory', mode: 0o755 },
    { name: 'blobs/sha256', type: 'directory', mode: 0o755 },
    ...[...unique.values()].map(({ digest, data }) => file(`blobs/${digest.replace(':', '/')}`, data)),
    file('index.json', index([{ ...named, annotations }]).data),
    file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
  ]);
}

function platformBlobs(image: PlatformImage): { readonly descriptor: object; readonly blobs: readonly Blob[] } {
  const { layers, architecture = hostArchitecture, entrypoint, user, workingDir, labels } = image;
  const config = json({
    architecture,
    os: 'linux',
    config: {
      ...(user === undefined ? {} : { User: user }),
      Env: [DEFAULT_PATH, ...(image.env ?? [])],
      ...(entrypoint === undefined ? {} : { Entrypoint: entrypoint }),
      ...(workingDir === undefined ? {} : { WorkingDir: workingDir }),
      ...(labels === undefined ? {} : { Labels: labels }),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config: descriptor(config, mediaType('config.v1+json')),
    layers: layers.map((layer) => descriptor(layer.blob, layer.mediaType)),
  });
  return {
    descriptor: { ...descriptor(manifest, mediaType('manifest.v1+json')), platform: { architecture, os: 'linux' } },
    blobs: [config, ...layers.map((layer) => layer.blob), manifest],
  };
}

function index(manifests: readonly object[]): Blob {
  return json({ schemaVersion: 2, mediaType: mediaType('index.v1+json'), manifests });
}

function blob(data: Buffer): Blob {
  return { digest: `sha256:${createHash('sha256').update(data).digest('hex')}`, data };
}

function json(value: unknown): Blob {
  return blob(Buffer.from(JSON.stringify(value)));
}

function descriptor({ digest, data }: Blob, type: string): object {
  return { mediaType: type, digest, size: data.length };
}

function file(name: string, content: Buffer): TarEntry {
  return { name, type: 'file', mode: 0o644, content };
}

// Makes a container image out of a folder: an OCI archive with one layer, same bytes every time. Needs no container
// engine. By hand:
//   node scripts/image.ts FOLDER ARCHIVE --name localhost/NAME:TAG [--entrypoint PROGRAM]… [--user ID] [--gzip]
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { readTree, tar } from './tar.ts';
import type { TarEntry } from './tar.ts';

export interface ImageOptions {
  /** The reference under which it is imported: `localhost/offshoot:test`. */
  readonly name: string;
  readonly entrypoint?: readonly string[];
  /** `KEY=VALUE` each. */
  readonly env?: readonly string[];
  /** User id, or `user:group`; root otherwise. */
  readonly user?: string;
  readonly workingDir?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Compresses the layer: smaller to ship, slower to make and to import. */
  readonly gzip?: boolean;
  /** In the words of Go: `amd64`, `arm64`. */
  readonly architecture?: string;
}

interface Blob {
  readonly digest: string;
  readonly data: Buffer;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const mediaType = (kind: string): string => `application/vnd.oci.image.${kind}`;

/** The archive of an image whose root file system is the folder. */
export function makeImage(folder: string, options: ImageOptions): Buffer {
  const uncompressed = blob(tar(readTree(folder)));
  // Level and header of the compression are fixed, so that the bytes depend on the content alone.
  const layer = options.gzip === true ? blob(gzipSync(uncompressed.data, { level: 6 })) : uncompressed;
  const config = json({
    architecture: options.architecture ?? architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: {
      ...(options.user === undefined ? {} : { User: options.user }),
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...(options.env ?? [])],
      ...(options.entrypoint === undefined ? {} : { Entrypoint: options.entrypoint }),
      ...(options.workingDir === undefined ? {} : { WorkingDir: options.workingDir }),
      ...(options.labels === undefined ? {} : { Labels: options.labels }),
    },
    rootfs: { type: 'layers', diff_ids: [uncompressed.digest] },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config: descriptor(config, mediaType('config.v1+json')),
    layers: [descriptor(layer, mediaType(`layer.v1.tar${options.gzip === true ? '+gzip' : ''}`))],
  });
  const index = json({
    schemaVersion: 2,
    mediaType: mediaType('index.v1+json'),
    manifests: [
      {
        ...descriptor(manifest, mediaType('manifest.v1+json')),
        annotations: {
          'io.containerd.image.name': options.name,
          'org.opencontainers.image.ref.name': options.name,
        },
      },
    ],
  });
  return tar([
    { name: 'blobs', type: 'directory', mode: 0o755 },
    { name: 'blobs/sha256', type: 'directory', mode: 0o755 },
    ...[config, layer, manifest].map(({ digest, data }) => file(`blobs/${digest.replace(':', '/')}`, data)),
    file('index.json', index.data),
    file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
  ]);
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

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      entrypoint: { type: 'string', multiple: true },
      env: { type: 'string', multiple: true },
      user: { type: 'string' },
      gzip: { type: 'boolean' },
    },
  });
  const [folder, archive] = positionals;
  if (folder === undefined || archive === undefined || values.name === undefined) {
    process.stderr.write('usage: node scripts/image.ts FOLDER ARCHIVE --name localhost/NAME:TAG\n');
    process.exitCode = 64;
  } else {
    writeFileSync(archive, makeImage(folder, { ...values, name: values.name }));
  }
}

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gzipLayer, imageArchive, makeImage } from './oci.ts';
import { readTree } from '../../src/cli/support-bundle/tar.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'offshoot-image-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const longName = `${'deep/'.repeat(30)}file`;

/** Creates a folder, with its files written in the given order. */
function folder(name: string, order: readonly string[]): string {
  const dir = path.join(root, name);
  mkdirSync(path.join(dir, 'bin'), { recursive: true });
  mkdirSync(path.dirname(path.join(dir, longName)), { recursive: true });
  for (const file of order) writeFileSync(path.join(dir, file), `I am ${file}`);
  chmodSync(path.join(dir, 'bin/program'), 0o755);
  symlinkSync('/bin/program', path.join(dir, 'bin/link'));
  symlinkSync(`/${longName}`, path.join(dir, 'far'));
  return dir;
}

/** The output of `tar` for an archive: one line per entry, or one file. */
function untar(archive: Buffer, ...args: string[]): string {
  return execFileSync('tar', [...args.slice(0, 1), '-f', '-', ...args.slice(1)], { input: archive }).toString();
}

function blobOf(image: Buffer, digest: string): Buffer {
  const data = execFileSync('tar', ['-xOf', '-', `blobs/${digest.replace(':', '/')}`], { input: image });
  expect(`sha256:${createHash('sha256').update(data).digest('hex')}`).toBe(digest);
  return data;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly mediaType: string; readonly size: number }[];
}

function open(image: Buffer): { manifest: Manifest; config: { rootfs: { diff_ids: string[] } }; layer: Buffer } {
  const index = JSON.parse(untar(image, '-xO', 'index.json')) as { manifests: { digest: string }[] };
  const manifest = JSON.parse(blobOf(image, index.manifests[0]!.digest).toString()) as Manifest;
  const config = JSON.parse(blobOf(image, manifest.config.digest).toString()) as { rootfs: { diff_ids: string[] } };
  return { manifest, config, layer: blobOf(image, manifest.layers[0]!.digest) };
}

describe('makeImage', () => {
  const files = ['bin/program', 'notes', longName];

  test('gives the same bytes for the same content, whenever and in whatever order it was written', () => {
    const one = folder('one', files);
    const other = folder('other', files.toReversed());
    utimesSync(path.join(other, 'notes'), 1, 1);
    const options = { name: 'localhost/shop:1', entrypoint: ['/bin/program'] };
    expect(makeImage(one, options).equals(makeImage(other, options))).toBe(true);
    chmodSync(path.join(other, 'notes'), 0o600);
    expect(makeImage(one, options).equals(makeImage(other, options))).toBe(false);
  });

  test('contains the folder with its modes, links and long names, owned by root', () => {
    const { layer } = open(makeImage(folder('one', files), { name: 'localhost/shop:1' }));
    const lines = untar(layer, '-tv', '--numeric-owner').split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^-rwxr-xr-x 0\/0 +16 .* bin\/program$/));
    expect(lines).toContainEqual(expect.stringMatching(/bin\/link -> \/bin\/program$/));
    expect(lines).toContainEqual(expect.stringContaining(`far -> /${longName}`));
    expect(untar(layer, '-xO', longName)).toBe(`I am ${longName}`);
  });

  test('describes a compressed layer by its compressed size and its uncompressed digest', () => {
    const image = imageArchive('localhost/shop:1', [{ layers: [gzipLayer(readTree(folder('one', files)))] }]);
    const { manifest, config, layer } = open(image);
    expect(manifest.layers[0]!.mediaType).toBe('application/vnd.oci.image.layer.v1.tar+gzip');
    expect(manifest.layers[0]!.size).toBe(layer.length);
    const hash = createHash('sha256').update(gunzipSync(layer)).digest('hex');
    expect(config.rootfs.diff_ids).toEqual([`sha256:${hash}`]);
  });

  test('refuses a file type that an image cannot contain, with its path', () => {
    const dir = folder('one', files);
    execFileSync('mkfifo', [path.join(dir, 'pipe')]);
    expect(() => makeImage(dir, { name: 'localhost/shop:1' })).toThrow(/one\/pipe is neither a file/);
  });
});

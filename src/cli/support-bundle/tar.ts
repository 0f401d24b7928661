// Reproducible tar archives: sorted names, no owners, no times. For support bundles and the release image.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

export interface TarEntry {
  /** A relative path with `/`. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'link';
  readonly mode: number;
  readonly content?: Buffer;
  /** The target of a link. */
  readonly target?: string;
}

const blockSize = 512;
const typeFlags = { file: '0', directory: '5', link: '2' } as const;

/** An archive of the entries, in the given order. */
export function tar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(encode), Buffer.alloc(2 * blockSize)]);
}

/** All entries below a folder, parents first. Throws for anything but files, folders and symbolic links. */
export function readTree(root: string, below = ''): TarEntry[] {
  const names = readdirSync(path.join(root, below)).sort();
  return names.flatMap((each): TarEntry[] => {
    const name = below === '' ? each : `${below}/${each}`;
    const file = path.join(root, name);
    const stat = lstatSync(file);
    const mode = stat.mode & 0o7777;
    if (stat.isDirectory()) return [{ name, type: 'directory', mode }, ...readTree(root, name)];
    if (stat.isSymbolicLink()) return [{ name, type: 'link', mode: 0o777, target: readlinkSync(file) }];
    if (stat.isFile()) return [{ name, type: 'file', mode, content: readFileSync(file) }];
    throw new Error(`${file} is neither a file, a folder nor a symbolic link`);
  });
}

function encode(entry: TarEntry): Buffer[] {
  const content = entry.content ?? Buffer.alloc(0);
  const long = { path: entry.name, linkpath: entry.target ?? '' };
  const records = Object.entries(long).filter(([, value]) => Buffer.byteLength(value) > 100);
  const extended = records.length === 0 ? [] : padded('x', 'pax', 0o644, Buffer.concat(records.map(paxRecord)), '');
  return [...extended, ...padded(typeFlags[entry.type], entry.name, entry.mode, content, entry.target ?? '')];
}

function padded(flag: string, name: string, mode: number, content: Buffer, target: string): Buffer[] {
  const rest = content.length % blockSize;
  return [header(flag, name, mode, content.length, target), content, Buffer.alloc(rest === 0 ? 0 : blockSize - rest)];
}

function header(flag: string, name: string, mode: number, size: number, target: string): Buffer {
  const block = Buffer.alloc(blockSize);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length - 1, '0');
  block.write(name.slice(0, 100), 0, 100); // a longer name is in the extended header
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(flag, 156);
  block.write(target.slice(0, 100), 157, 100);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)}\0 `, 148);
  return block;
}

/** "LENGTH key=value\n", where the length includes itself. */
function paxRecord([key, value]: readonly [string, string]): Buffer {
  const rest = ` ${key}=${value}\n`;
  const size = Buffer.byteLength(rest);
  let length = size;
  while (length !== size + String(length).length) length = size + String(length).length;
  return Buffer.from(`${length}${rest}`);
}

// Makes the release image as an OCI archive:
//   npm run image                                    both architectures, into image/offshoot-VERSION.tar
//   npm run image -- --platform linux/arm64          one architecture
//   npm run image -- --name registry.example.com/offshoot:1.2.3
//   npm run image -- --root FOLDER --platform …      writes its files into a folder, for deploy/Dockerfile
//   npm run image -- --fetch                         only downloads its parts, once, into the cache folder
//   npm run image -- --lock                          locks the newest Debian packages
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fetchPrograms } from '../test/programs/programs.ts';
import { ARCHITECTURES, imageParts, newestLock } from './image/parts.ts';
import type { Architecture } from './image/parts.ts';
import { RELEASE_VERSION, releaseArchive, releaseFiles } from './image/release.ts';
import type { TarEntry } from '../src/cli/support-bundle/tar.ts';

const project = path.resolve(import.meta.dirname, '..');
const log = (line: string): void => void process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    platform: { type: 'string', multiple: true, default: ARCHITECTURES.map((each) => `linux/${each}`) },
    name: { type: 'string', default: `localhost/offshoot:${RELEASE_VERSION}` },
    output: { type: 'string', default: path.join(project, `image/offshoot-${RELEASE_VERSION}.tar`) },
    root: { type: 'string' },
    fetch: { type: 'boolean' },
    lock: { type: 'boolean' },
  },
});

try {
  await main();
} catch (error) {
  log((error as Error).message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (values.lock === true) return writeLock();
  const architectures = values.platform.map(architectureOf);
  for (const architecture of architectures) await fetchPrograms(imageParts(architecture), log);
  if (values.fetch === true) return;
  await import('./build.ts');
  if (values.root !== undefined) {
    if (architectures.length !== 1) throw new Error('--root needs one --platform');
    return writeFiles(values.root, releaseFiles(architectures[0]!));
  }
  const archive = releaseArchive(values.name, architectures);
  mkdirSync(path.dirname(values.output), { recursive: true });
  writeFileSync(values.output, archive);
  const digest = createHash('sha256').update(archive).digest('hex');
  console.log(`${values.output}: ${values.name}, ${values.platform.join(' and ')}, sha256 ${digest}`);
}

function architectureOf(platform: string): Architecture {
  const found = ARCHITECTURES.find((each) => platform === `linux/${each}`);
  if (found !== undefined) return found;
  const known = ARCHITECTURES.map((each) => `linux/${each}`).join(' or ');
  throw new Error(`--platform is ${known}, found "${platform}"`);
}

function writeFiles(root: string, entries: readonly TarEntry[]): void {
  for (const { name, type, mode, content, target } of entries) {
    const file = path.join(root, name);
    if (type === 'directory') mkdirSync(file, { recursive: true });
    else if (type === 'link') symlinkSync(target!, file);
    else writeFileSync(file, content!);
    if (type !== 'link') chmodSync(file, mode);
  }
}

async function writeLock(): Promise<void> {
  const manifest = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as {
    readonly devDependencies: { readonly node: string };
  };
  const work = mkdtempSync(path.join(tmpdir(), 'offshoot-image-lock-'));
  try {
    const lock = await newestLock(manifest.devDependencies.node, work, log);
    writeFileSync(path.join(project, 'scripts/image/lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

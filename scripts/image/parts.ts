// The third-party parts of the release image: Node from its npm package, and the C and C++ libraries of Debian.
// lock.json has their versions and hashes, so that builds are reproducible.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from '../../test/programs/command.ts';
import type { Log, ProgramSet } from '../../test/programs/programs.ts';
import lock from './lock.json' with { type: 'json' };

/** The names of Go and Debian, which are the same. */
export type Architecture = 'amd64' | 'arm64';
export const ARCHITECTURES: readonly Architecture[] = ['amd64', 'arm64'];

export interface ImageLock {
  readonly node: { readonly version: string } & Readonly<Record<Architecture, string>>;
  readonly debian: Readonly<Record<string, { readonly version: string } & Readonly<Record<Architecture, string>>>>;
}

export const imageLock: ImageLock = lock;

const npmNames = { amd64: 'x64', arm64: 'arm64' };
const ADVICE = 'run `npm run image -- --fetch` (needs npm, apt-get and dpkg)';

/** A folder with `node`, its licence, and `debian/` with all packages unpacked. */
export function imageParts(architecture: Architecture): ProgramSet {
  const { node, debian } = imageLock;
  const pinned = [architecture, node, debian];
  return {
    name: 'image-parts',
    title: `Node and system libraries for ${architecture}`,
    versions: [`${architecture}-${hash('sha256', JSON.stringify(pinned), 'hex').slice(0, 12)}`],
    programs: ['node', 'debian/lib'],
    variable: `OFFSHOOT_IMAGE_PARTS_${architecture.toUpperCase()}`,
    advice: ADVICE,
    async build({ work, bin, log }) {
      await fetchNode(architecture, work, bin);
      const names = Object.entries(debian).map(([name, { version }]) => `${name}=${version}`);
      const files = await download(architecture, names, work, log).catch((error: Error) => {
        const advice = 'where Debian has newer packages, `npm run image -- --lock` takes those';
        throw new Error(`${error.message}\n${advice}`, { cause: error });
      });
      for (const [name, file] of files) {
        expectHash(file, 'sha256', debian[name]![architecture]);
        await run('dpkg', ['-x', file, path.join(bin, 'debian')], { cwd: work });
      }
    },
  };
}

async function fetchNode(architecture: Architecture, work: string, bin: string): Promise<void> {
  const { node } = imageLock;
  const nodePackage = `node-linux-${npmNames[architecture]}@${node.version}`;
  const name = (await run('npm', ['pack', '--silent', nodePackage], { cwd: work })).trim();
  const archive = path.join(work, name);
  expectHash(archive, 'sha512', node[architecture]);
  await run('tar', ['-xzf', archive, 'package/bin/node', 'package/LICENSE'], { cwd: work });
  renameSync(path.join(work, 'package/bin/node'), path.join(bin, 'node'));
  renameSync(path.join(work, 'package/LICENSE'), path.join(bin, 'node-LICENSE'));
  chmodSync(path.join(bin, 'node'), 0o755);
}

/** Downloads Debian packages. Uses its own package lists, because the machine may have another architecture. */
async function download(
  architecture: Architecture,
  packages: readonly string[],
  work: string,
  log: Log,
): Promise<Map<string, string>> {
  const state = path.join(work, `apt-${architecture}`);
  const target = path.join(state, 'packages');
  for (const folder of ['lists/partial', 'archives/partial', 'packages'])
    mkdirSync(path.join(state, folder), { recursive: true });
  writeFileSync(path.join(state, 'status'), '');
  const settings = {
    'APT::Sandbox::User': 'root',
    'APT::Architecture': architecture,
    'APT::Architectures::': architecture,
    'Dir::State': state,
    'Dir::State::status': path.join(state, 'status'),
    'Dir::Cache': state,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...options, 'update'], { cwd: target, log });
  await run('apt-get', [...options, 'download', ...packages], { cwd: target, log });
  const files = readdirSync(target).toSorted();
  return new Map(files.map((file) => [file.replace(/_.*/, ''), path.join(target, file)]));
}

/** A lock of the newest Debian packages and the project's Node version. */
export async function newestLock(nodeVersion: string, work: string, log: Log): Promise<ImageLock> {
  const integrity = async (architecture: Architecture): Promise<string> => {
    const nodePackage = `node-linux-${npmNames[architecture]}@${nodeVersion}`;
    return (await run('npm', ['view', '--silent', nodePackage, 'dist.integrity'], { cwd: work })).trim();
  };
  const [amd64, arm64] = await Promise.all(
    ARCHITECTURES.map((architecture) => download(architecture, Object.keys(imageLock.debian), work, log)),
  );
  const debian = [...amd64!].map(([name, file]) => {
    const version = decodeURIComponent(path.basename(file).split('_')[1]!);
    const other = arm64!.get(name)!;
    return [name, { version, amd64: hashOf(file, 'sha256'), arm64: hashOf(other, 'sha256') }] as const;
  });
  return {
    node: { version: nodeVersion, amd64: await integrity('amd64'), arm64: await integrity('arm64') },
    debian: Object.fromEntries(debian),
  };
}

function expectHash(file: string, algorithm: 'sha256' | 'sha512', expected: string): void {
  const found = hashOf(file, algorithm);
  if (found !== expected)
    throw new Error(`${path.basename(file)} is not what scripts/image/lock.json names: ${found}, wanted ${expected}`);
}

/** A hash in the format of package-lock.json. */
function hashOf(file: string, algorithm: 'sha256' | 'sha512'): string {
  return `${algorithm}-${hash(algorithm, readFileSync(file), 'base64')}`;
}

function hash(algorithm: string, data: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(data).digest(encoding);
}

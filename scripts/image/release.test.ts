import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findPrograms } from '../../test/programs/programs.ts';
import { describeRequiring } from '../../test/support/requirements.ts';
import { writeProgram } from '../../test/support/write-program.ts';
import { DEFAULT_PATH, hostArchitecture } from './oci.ts';
import { ARCHITECTURES, imageLock, imageParts } from './parts.ts';
import type { Architecture } from './parts.ts';
import { RELEASE_CONFIG, RELEASE_VERSION, releaseArchive, releaseFiles } from './release.ts';
import type { TarEntry } from '../../src/cli/support-bundle/tar.ts';

const project = path.resolve(import.meta.dirname, '../..');
const readText = (file: string): string => readFileSync(path.join(project, file), 'utf8');
const parts = ARCHITECTURES.map((each) => findPrograms(imageParts(each)));
const missing = parts.flatMap((found) => ('missing' in found ? [found.missing] : []))[0];
const requirement = { what: 'release image', missing, variable: 'OFFSHOOT_IMAGE' };

interface SpdxPackage {
  readonly name: string;
  readonly versionInfo: string;
  readonly externalRefs: readonly { readonly referenceLocator: string }[];
}

test('the image has the Node version that the project is tested with', () => {
  const { devDependencies } = JSON.parse(readText('package.json')) as { devDependencies: { node: string } };
  expect(imageLock.node.version).toBe(devDependencies.node);
});

describeRequiring('the release image', [requirement], () => {
  describe.each(ARCHITECTURES)('of linux/%s', (architecture: Architecture) => {
    let files: readonly TarEntry[];
    beforeAll(() => {
      files = releaseFiles(architecture);
    });
    const textOf = (name: string): string => {
      const content = files.find((each) => each.name === name)?.content;
      return content?.toString() ?? expect.fail(`there is no ${name}`);
    };

    test('is below 130 MB', () => {
      const size = files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
      expect(size).toBeGreaterThan(100e6);
      expect(size).toBeLessThan(130e6);
    });

    test('has no shell and no program but Node', () => {
      const programs = files.filter(({ name, type }) => type !== 'directory' && /(^|\/)s?bin\//.test(name));
      expect(programs.map(({ name }) => name)).toEqual(['app/bin/offshoot.js', 'usr/local/bin/node']);
      const loaders = files.filter(({ type, mode }) => type === 'file' && (mode & 0o111) !== 0);
      for (const { name } of loaders)
        expect(name).toMatch(/^usr\/local\/bin\/node$|\/ld-linux-[\w-]+\.so\.\d$|\.so\.6$/);
    });

    test('is writable only by root, except /tmp', () => {
      const open = files.filter(({ type, mode }) => type !== 'link' && (mode & 0o022) !== 0);
      expect(open.map(({ name, mode }) => [name, mode])).toEqual([['tmp', 0o1777]]);
    });

    test('has a bill of materials', () => {
      const { packages } = JSON.parse(textOf('usr/share/sbom/offshoot.spdx.json')) as { packages: SpdxPackage[] };
      const purls = packages.map(({ externalRefs }) => externalRefs[0]!.referenceLocator);
      const { version } = imageLock.debian['libc6']!;
      expect(purls).toContain(`pkg:npm/offshoot@${RELEASE_VERSION}`);
      expect(purls).toContain(`pkg:generic/node@${imageLock.node.version}`);
      expect(purls).toContain(
        `pkg:deb/debian/libc6@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
      );
      const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
      expect(purls).toEqual(
        expect.arrayContaining(
          Object.entries(dependencies).map(([name, each]) => `pkg:npm/${name.replace('@', '%40')}@${each}`),
        ),
      );
      expect(new Set(packages.map((each) => (each as unknown as { SPDXID: string }).SPDXID)).size).toBe(
        packages.length,
      );
    });

    test('has the licences of all its parts', () => {
      expect(textOf('app/LICENSE')).toContain('Apache License');
      expect(textOf('usr/share/doc/node/LICENSE')).toContain('Node.js is licensed');
      for (const name of ['libc6', 'gcc-12-base']) expect(textOf(`usr/share/doc/${name}/copyright`)).toMatch(/GPL/);
      // The compiler libraries share one licence file.
      for (const name of ['libgcc-s1', 'libstdc++6'])
        expect(files.find((each) => each.name === `usr/share/doc/${name}`)).toMatchObject({ target: 'gcc-12-base' });
      const packages = JSON.parse(textOf('app/dist/packages.json')) as { name: string; version: string }[];
      for (const { name, version } of packages) expect(textOf('app/dist/LICENSES.txt')).toContain(`${name} ${version}`);
    });
  });

  test('is reproducible, and has one image per architecture under one name', () => {
    const archive = releaseArchive('localhost/offshoot:1', ARCHITECTURES);
    expect(archive.equals(releaseArchive('localhost/offshoot:1', ARCHITECTURES))).toBe(true);
    const read = (name: string): unknown =>
      JSON.parse(execFileSync('tar', ['-xOf', '-', name], { input: archive }).toString());
    const top = read('index.json') as { manifests: { digest: string; annotations: object }[] };
    expect(top.manifests).toHaveLength(1);
    expect(top.manifests[0]!.annotations).toMatchObject({ 'io.containerd.image.name': 'localhost/offshoot:1' });
    const list = read(`blobs/${top.manifests[0]!.digest.replace(':', '/')}`) as { manifests: { platform: object }[] };
    expect(list.manifests.map(({ platform }) => platform)).toEqual(
      ARCHITECTURES.map((architecture) => ({ architecture, os: 'linux' })),
    );
  });

  test('starts', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'offshoot-release-'));
    try {
      const wanted = releaseFiles(hostArchitecture as Architecture).filter(({ name }) =>
        /^(app|usr\/local)\//.test(name),
      );
      for (const { name, type, mode, content } of wanted)
        if (type === 'directory') mkdirSync(path.join(root, name), { recursive: true });
        else {
          mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
          if ((mode & 0o100) === 0) writeFileSync(path.join(root, name), content!);
          else writeProgram(path.join(root, name), content!);
        }
      const [node = '', program = ''] = RELEASE_CONFIG.entrypoint.map((each) => path.join(root, each));
      const output = execFileSync(node, [program, '--version'], { encoding: 'utf8' });
      expect(output.trim()).toBe(RELEASE_VERSION);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

// Docker is not available in tests, so the Dockerfile is compared with the image that is made without it.
describe('deploy/Dockerfile', () => {
  const instructions = readText('deploy/Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  const stage = instructions.slice(instructions.indexOf('FROM scratch'));
  const argument = (name: string): string =>
    stage.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? expect.fail(`no ${name}`);

  test('copies only the files that `npm run image` writes', () => {
    expect(instructions).toContain('RUN npm run image -- --platform linux/$TARGETARCH --root /image');
    expect(stage.filter((line) => /^(COPY|ADD|RUN) /.test(line))).toEqual(['COPY --from=build /image /']);
  });

  test('builds with the Node version of the project, on the Debian release of the locked packages', () => {
    const { version } = imageLock.node;
    expect(instructions[0]).toBe(`FROM --platform=$BUILDPLATFORM node:${version}-bookworm AS build`);
    expect(imageLock.debian['libc6']!.version).toContain('deb12');
  });

  test('has the same user, entry point, environment and labels as the image', () => {
    const { user, entrypoint, workingDir, env, labels } = RELEASE_CONFIG;
    expect(argument('USER')).toBe(user);
    expect(argument('WORKDIR')).toBe(workingDir);
    expect(argument('ENV').split(' ')).toEqual([DEFAULT_PATH, ...env]);
    expect(JSON.parse(argument('ENTRYPOINT'))).toEqual(entrypoint);
    const found = [...argument('LABEL').matchAll(/(\S+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    expect(Object.fromEntries(found)).toEqual(labels);
  });
});

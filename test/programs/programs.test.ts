import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kubernetes } from './kubernetes.ts';
import { fetchPrograms, findPrograms, VersionUnavailable } from './programs.ts';
import type { ProgramSet } from './programs.ts';

const { programs } = kubernetes;
const findBinaries = (
  needed: (typeof programs)[number][] | typeof programs,
  env: NodeJS.ProcessEnv,
): ReturnType<typeof findPrograms> => findPrograms(kubernetes, needed, env);

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'offshoot-binaries-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string, contents: readonly string[]): string {
  const dir = path.join(root, name);
  mkdirSync(dir, { recursive: true });
  for (const program of contents) {
    writeFileSync(path.join(dir, program), '');
    chmodSync(path.join(dir, program), 0o755);
  }
  return dir;
}

describe('findPrograms', () => {
  test('takes KUBEBUILDER_ASSETS before the cache', () => {
    const assets = folder('assets', programs);
    folder('offshoot/kubernetes/1.36.4', programs);
    expect(findBinaries(programs, { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root })).toEqual({ dir: assets });
  });

  test('skips an assets folder that lacks a program, and takes the newest patch in the cache', () => {
    const assets = folder('assets', ['etcd', 'kube-apiserver', 'kubectl']);
    for (const version of ['1.36.2', '1.36.3', '1.35.20', '.build-x'])
      folder(`offshoot/kubernetes/${version}`, programs);
    const found = findBinaries(programs, { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root });
    expect(found).toEqual({ dir: path.join(root, 'offshoot/kubernetes/1.36.3') });
  });

  test('accepts an assets folder that has all needed programs', () => {
    const assets = folder('assets', ['etcd', 'kube-apiserver', 'kubectl']);
    expect(findBinaries(['etcd', 'kube-apiserver'], { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root })).toEqual({
      dir: assets,
    });
  });

  test('says in one line what is missing and how to get it', () => {
    const assets = folder('assets', ['etcd', 'kube-apiserver', 'kubectl']);
    const found = findBinaries(programs, { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root });
    expect(found).toEqual({
      missing: expect.stringMatching(/^KUBEBUILDER_ASSETS has no kube-controller-manager, kube-scheduler: run .*fetch/),
    });
    expect(findBinaries(programs, { XDG_CACHE_HOME: root })).toEqual({
      missing: expect.stringMatching(/^no Kubernetes binaries: run [^\n]*setup-envtest use[^\n]*KUBEBUILDER_ASSETS/),
    });
  });
});

describe('fetchPrograms', () => {
  const lines: string[] = [];
  const fetch = (set: ProgramSet): Promise<string> =>
    fetchPrograms(set, (line) => lines.push(line), { XDG_CACHE_HOME: root });
  beforeEach(() => void lines.splice(0));

  test('does not build programs that are in the cache', async () => {
    const cached = folder('offshoot/kubernetes/1.36.4', programs);
    expect(await fetch(kubernetes)).toBe(cached);
    expect(lines).toEqual([]);
  });

  /** A set with this build function. */
  function set(build: (version: string, bin: string) => void): ProgramSet {
    return {
      name: 'tool',
      title: 'the tool',
      versions: ['2', '1'],
      programs: ['tool'],
      variable: 'TOOL',
      advice: 'get it',
      build: async ({ version, bin }) => build(version, bin),
    };
  }
  const put = (bin: string): void => writeFileSync(path.join(bin, 'tool'), '', { mode: 0o755 });

  test('tries the next version if one cannot be downloaded', async () => {
    const built = await fetch(
      set((version, bin) => {
        if (version === '2') throw new VersionUnavailable('404');
        put(bin);
      }),
    );
    expect(built).toBe(path.join(root, 'offshoot/tool/1'));
  });

  test('removes the files of a failed build', async () => {
    const failing = set((_, bin) => {
      put(bin);
      throw new Error('the disk is full');
    });
    await expect(fetch(failing)).rejects.toThrow('the disk is full');
    expect(readdirSync(path.join(root, 'offshoot/tool'))).toEqual(['build.lock']);
  });

  test('lets one caller build while others wait', async () => {
    let builds = 0;
    const counting = set((_, bin) => {
      builds++;
      put(bin);
    });
    const dirs = await Promise.all([fetch(counting), fetch(counting)]);
    expect(builds).toBe(1);
    expect(dirs[0]).toBe(dirs[1]);
  });
});

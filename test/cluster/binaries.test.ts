import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchBinaries, findBinaries, programs } from './binaries.ts';

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

describe('findBinaries', () => {
  test('takes KUBEBUILDER_ASSETS before the cache', () => {
    const assets = folder('assets', programs);
    folder('offshoot/kubernetes/1.36.4', programs);
    expect(findBinaries(programs, { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root })).toEqual({ dir: assets });
  });

  test('passes over an assets folder that lacks a program, and takes the newest patch in the cache', () => {
    const assets = folder('assets', ['etcd', 'kube-apiserver', 'kubectl']);
    for (const version of ['1.36.9', '1.36.10', '1.35.20', '.build-x'])
      folder(`offshoot/kubernetes/${version}`, programs);
    const found = findBinaries(programs, { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: root });
    expect(found).toEqual({ dir: path.join(root, 'offshoot/kubernetes/1.36.10') });
  });

  test('an assets folder is enough for those who need no more than it has', () => {
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

test('fetchBinaries does not build what is there', async () => {
  const cached = folder('offshoot/kubernetes/1.36.4', programs);
  const lines: string[] = [];
  expect(await fetchBinaries((line) => lines.push(line), { XDG_CACHE_HOME: root })).toBe(cached);
  expect(lines).toEqual([]);
});

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kubeconfigToWrite, mergeKubeconfig as mergeInto } from './merge.ts';
import type { Merged } from './merge.ts';

const own = {
  name: 'offshoot',
  server: 'https://127.0.0.1:1',
  caPem: 'CA',
  certPem: 'CERT',
  keyPem: 'KEY',
  pid: process.pid,
};
const existing = `apiVersion: v1
kind: Config
current-context: work
clusters: []
contexts:
- name: work
  context: {}
users: []
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-merge-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const mergeKubeconfig = (context: typeof own, variables: NodeJS.ProcessEnv): Promise<Merged> =>
  mergeInto(context, kubeconfigToWrite(variables));
const at = (...names: string[]): string => path.join(dir, ...names);
const env = (...files: string[]): NodeJS.ProcessEnv => ({ HOME: dir, KUBECONFIG: files.join(path.delimiter) });

test('without KUBECONFIG, ~/.kube/config is used and created with mode 0600 if it is missing', async () => {
  const { file } = await mergeKubeconfig(own, { HOME: dir });
  expect(file).toBe(at('.kube', 'config'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(at('.kube'))).toEqual(['config']);
});

test('of several files, the first existing one is used, else the last, as by kubectl', async () => {
  expect((await mergeKubeconfig(own, env(at('a'), at('b')))).file).toBe(at('b'));
  rmSync(at('b'));
  writeFileSync(at('c'), existing);
  expect((await mergeKubeconfig(own, env(at('a'), at('c'), at('b')))).file).toBe(at('c'));
  expect(existsSync(at('a')) || existsSync(at('b'))).toBe(false);
});

test('file mode and symbolic link are kept, and undo restores the content', async () => {
  writeFileSync(at('real'), existing);
  chmodSync(at('real'), 0o640);
  symlinkSync(at('real'), at('link'));
  const { undo } = await mergeKubeconfig(own, env(at('link')));
  expect(readFileSync(at('real'), 'utf8')).toContain('offshoot');
  expect([statSync(at('real')).mode & 0o777, readdirSync(dir).toSorted()]).toEqual([0o640, ['link', 'real']]);
  await undo();
  expect(readFileSync(at('link'), 'utf8')).toBe(existing);
});

test('a file that we created is removed with our last context, unless somebody else wrote to it', async () => {
  const one = await mergeKubeconfig(own, env(at('a')));
  const other = await mergeKubeconfig({ ...own, name: 'other' }, env(at('a')));
  await one.undo();
  expect(readFileSync(at('a'), 'utf8')).toContain('other');
  await other.undo();
  expect(readdirSync(dir)).toEqual([]);
  const { undo } = await mergeKubeconfig(own, env(at('a')));
  writeFileSync(at('a'), `${readFileSync(at('a'), 'utf8')}preferences: {colors: true}\n`);
  await undo();
  expect(readFileSync(at('a'), 'utf8')).toContain('preferences: {colors: true}');
});

test('an empty file that existed before is kept', async () => {
  writeFileSync(at('a'), '');
  const { undo } = await mergeKubeconfig(own, env(at('a')));
  await undo();
  expect(readdirSync(dir)).toEqual(['a']);
});

test('undo keeps what was written in the meantime', async () => {
  writeFileSync(at('a'), existing);
  const { undo } = await mergeKubeconfig(own, env(at('a')));
  writeFileSync(at('a'), `${readFileSync(at('a'), 'utf8')}preferences: {colors: true}\n`);
  await undo();
  expect(readFileSync(at('a'), 'utf8')).toContain('preferences: {colors: true}');
  rmSync(at('a'));
  await undo();
});

test('an invalid file, or one that kubectl has locked, is not changed', async () => {
  writeFileSync(at('a'), 'contexts: [');
  await expect(mergeKubeconfig(own, env(at('a')))).rejects.toThrow(`kubeconfig ${at('a')}: `);
  expect(readFileSync(at('a'), 'utf8')).toBe('contexts: [');
  writeFileSync(at('a'), existing);
  writeFileSync(at('a.lock'), '');
  await expect(mergeKubeconfig(own, env(at('a')))).rejects.toThrow(
    `another program is writing it; if not, remove ${at('a.lock')}`,
  );
  expect([readFileSync(at('a'), 'utf8'), existsSync(at('a.lock'))]).toEqual([existing, true]);
});

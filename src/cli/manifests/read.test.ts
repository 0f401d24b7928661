import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseManifests, readManifests } from './read.ts';
import { yamlText } from '../terminal/output.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

const object = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

describe('parseManifests and readManifests', () => {
  test('read scalars as kubectl does', () => {
    const data = 'data: {a: yes, m: 0644, o: 0o644, t: 2026-11-15, s: 1:30, u: 1_000}';
    const [manifest] = parseManifests('-', `${object('a')}${data}\n`);
    expect(manifest!.object['data']).toEqual({ a: true, m: 420, o: 420, t: '2026-11-15', s: '1:30', u: 1000 });
  });

  test('read several documents and lists, and skip empty documents', () => {
    const list = 'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]\n';
    const manifests = parseManifests('f.yaml', `${object('a')}---\n# nothing\n---\n${object('b')}---\n${list}`);
    expect(manifests.map(({ where, object: { metadata } }) => [metadata.name, where(['metadata', 'name'])])).toEqual([
      ['a', 'f.yaml:3:12'],
      ['b', 'f.yaml:9:12'],
      ['c', 'f.yaml:13:54'],
    ]);
  });

  test('read the manifests of a directory in the order of their names', () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-manifests-'));
    dirs.push(dir);
    writeFileSync(path.join(dir, 'b.yaml'), object('b'));
    writeFileSync(
      path.join(dir, 'a.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
    );
    writeFileSync(path.join(dir, 'notes.txt'), 'not a manifest');
    expect(readManifests([dir]).map((each) => each.object.metadata.name)).toEqual(['a', 'b']);
  });
});

test('parseManifests reads what yamlText writes', () => {
  const spec = { a: 'yes', b: 'y', c: '0644', d: '1:30', e: '2026-11-15', f: 'null', g: '~', h: 'on', i: '1_000' };
  const text = yamlText({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'n' }, spec });
  expect(parseManifests('-', text)[0]!.object['spec']).toEqual(spec);
});

describe('invalid manifests', () => {
  test.each([
    ['a: [\nb: c\n', '-f f.yaml:3:1: "]" is missing, or a line before it is not indented'],
    ['just text', '-f f.yaml:1:1: an object is a mapping of fields'],
    ['- kind: ConfigMap', '-f f.yaml:1:1: an object is a mapping of fields, and this is a list: write its items as'],
    ['kind: ConfigMap', '-f f.yaml:1:1: apiVersion is missing'],
    ['apiVersion: v1', '-f f.yaml:1:1: kind is missing'],
    ['apiVersion: v1\nkind: ConfigMap', '-f f.yaml:1:1: metadata.name is missing'],
    [object('y'), '-f f.yaml:3:12: metadata.name is true, which is not a string: put it in quotes'],
  ])('are rejected: %j', (text, message) => {
    expect(() => parseManifests('f.yaml', text)).toThrow(message);
  });

  test('are reported if a file does not exist, is a URL, or a directory is empty', () => {
    expect(() => readManifests(['https://example.com/x.yaml'])).toThrow(
      '-f https://example.com/x.yaml: URLs are not read: download it, and pipe it to "-f -"',
    );
    expect(() => readManifests(['/nowhere/x.yaml'])).toThrow('-f /nowhere/x.yaml: the file does not exist');
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-manifests-'));
    dirs.push(dir);
    expect(() => readManifests([dir])).toThrow(`-f ${dir}: it contains no objects`);
  });
});

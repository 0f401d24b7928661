import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { withContext, withoutContext } from './edit.ts';
import type { OwnContext } from './edit.ts';

const own: OwnContext = {
  name: 'offshoot',
  server: 'https://127.0.0.1:7443',
  caPem: 'CA',
  certPem: 'CERT',
  keyPem: 'KEY',
  pid: 10,
};
const merge = (text: string, more: Partial<OwnContext> = {}, alive: number[] = []): string =>
  withContext(text, { ...own, ...more }, (pid) => alive.includes(pid));

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts: readonly { readonly name: string }[];
}

const existing = `# mine, do not touch
apiVersion: v1
kind: Config
preferences: {colors: true} # nice
current-context: work
clusters:
- cluster: {server: "https://api.example.com", insecure-skip-tls-verify: true}
  name: far
contexts:
- name: work
  context:
    cluster: far
    user: jane
    namespace: 0123
users:
- name: jane
  user: {token: 1e5}
`;

test('withContext adds a context with its cluster and user, and makes it current', () => {
  const merged = parse(merge(existing)) as Kubeconfig;
  expect(merged['current-context']).toBe('offshoot');
  expect(merged).toMatchObject({
    clusters: [{ name: 'far' }, { name: 'offshoot', cluster: { server: own.server } }],
    users: [{ name: 'jane' }, { name: 'offshoot', user: { 'client-key-data': Buffer.from('KEY').toString('base64') } }],
    contexts: [{ name: 'work' }, { name: 'offshoot', context: { cluster: 'offshoot', user: 'offshoot' } }],
  });
});

test('other entries and comments are kept verbatim, and withoutContext restores the original', () => {
  const merged = merge(existing);
  for (const line of existing.split('\n').filter((each) => !each.startsWith('current-context'))) {
    expect(merged).toContain(line);
  }
  expect(withoutContext(merged, 'offshoot', 10)).toBe(existing);
});

test.each([
  ['no file', ''],
  ['a file without content', '# nothing\n'],
  ['the skeleton that kubectl writes', 'apiVersion: v1\nkind: Config\nclusters: null\ncontexts: null\nusers: null\n'],
  ['empty lists', 'clusters: []\ncontexts: []\nusers: []\ncurrent-context: ""\n'],
  ['JSON', '{"clusters": [], "contexts": [{"name": "work", "context": {}}], "current-context": "work"}'],
])('withContext works with %s', (_what, text) => {
  const merged = merge(text);
  expect((parse(merged) as Kubeconfig).contexts.at(-1)!.name).toBe('offshoot');
  const { 'current-context': current } = parse(withoutContext(merged, 'offshoot', 10)!) as Kubeconfig;
  expect(current || undefined).toBe(text.includes('"work"') ? 'work' : undefined);
});

describe('an existing context', () => {
  test('of a killed process is replaced, and its previous context is remembered', () => {
    const again = merge(merge(existing), { server: 'https://127.0.0.1:1', pid: 11 });
    expect(again.match(/name: offshoot$/gm)).toHaveLength(3);
    expect(again).not.toContain('7443');
    expect(parse(withoutContext(again, 'offshoot', 11)!)).toEqual(parse(existing));
  });

  test('of a running process is not replaced', () => {
    expect(() => merge(merge(existing), { pid: 11 }, [10])).toThrow(
      'is that of the process 10, which runs; choose another',
    );
    expect(() => merge(merge(existing), { pid: 11, name: 'second' }, [10])).not.toThrow();
  });

  test.each(['clusters', 'users', 'contexts'])('of the same name in %s that is not ours is never replaced', (list) => {
    expect(() => merge(`${list}: [{name: offshoot}]`)).toThrow(
      'it has an entry "offshoot" that "offshoot up" did not make',
    );
  });

  test('can be removed in any order if there are several', () => {
    const both = merge(merge(existing), { name: 'second', pid: 11 });
    expect(withoutContext(withoutContext(both, 'offshoot', 10)!, 'second', 11)).toBe(existing);
    expect(withoutContext(withoutContext(both, 'second', 11)!, 'offshoot', 10)).toBe(existing);
  });

  test('stays current if it was chosen in the meantime', () => {
    const chosen = merge(existing).replace('current-context: offshoot', 'current-context: other');
    expect((parse(withoutContext(chosen, 'offshoot', 10)!) as Kubeconfig)['current-context']).toBe('other');
  });

  test('of another process is not removed', () => {
    expect(withoutContext(merge(existing, { pid: 11 }), 'offshoot', 10)).toBeUndefined();
    expect(withoutContext(existing, 'offshoot', 10)).toBeUndefined();
  });
});

test.each([
  ['a: [', 'Flow sequence'],
  ['- 1', 'it is not a mapping'],
  ['text', 'it is not a mapping'],
  ['a: 1\n---\nb: 2\n', 'multiple documents'],
])('withContext rejects an invalid kubeconfig: %j', (text, message) => {
  expect(() => merge(text)).toThrow(message);
});

test('withoutContext undoes withContext for all names and values', () => {
  const name = fc.string({ minLength: 1 }).filter((each) => each !== 'offshoot');
  const entry = fc.record({ name, context: fc.dictionary(fc.string(), fc.string()) });
  const config = fc.record({ contexts: fc.array(entry), 'current-context': name, extra: fc.jsonValue() });
  fc.assert(
    fc.property(config, (value) => {
      const text = stringify(value);
      expect(parse(withoutContext(merge(text), 'offshoot', 10)!)).toMatchObject(parse(text) as object);
    }),
  );
});

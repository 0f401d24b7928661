// `offshoot routing translate`: its input, its output, and its errors.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { translationOf } from './translate.ts';
import type { TranslateFlags } from './translate.ts';

const BIN = path.resolve(import.meta.dirname, '../../../bin/offshoot.js');
const FLAGS: Omit<TranslateFlags, 'filename'> = { to: 'appmesh-api', mode: 'strict', allowAll: true, output: 'json' };

const MESH = {
  apiVersion: 'supergloo.solo.io/v1',
  kind: 'Mesh',
  metadata: { name: 'store', namespace: 'mesh-system' },
  spec: { awsAppMesh: { region: 'eu-central-1' } },
};
const UPSTREAM = {
  apiVersion: 'gloo.solo.io/v1',
  kind: 'Upstream',
  metadata: { name: 'shop-cart-80', namespace: 'gloo-system' },
  spec: { kube: { serviceName: 'cart', serviceNamespace: 'shop', servicePort: 80, selector: { app: 'cart' } } },
};
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'cart-1', namespace: 'shop', labels: { app: 'cart' } },
  spec: {
    containers: [
      { name: 'envoy', env: [{ name: 'APPMESH_VIRTUAL_NODE_NAME', value: 'mesh/store/virtualNode/cart-vn' }] },
    ],
    initContainers: [{ name: 'init', env: [{ name: 'APPMESH_APP_PORTS', value: '80' }] }],
  },
};
const ALL = [MESH, UPSTREAM, POD];
const list = (items: readonly unknown[], kind = 'List'): object => ({ apiVersion: 'v1', kind, items });

/** Nine levels of ten aliases each, which expand exponentially. */
function bomb(): string {
  const letters = Array.from('abcdefghij');
  return letters
    .slice(1)
    .map((letter, i) => `${letter}: &${letter} [${`*${letters[i]}, `.repeat(10)}]\n`)
    .join('');
}

/** Without anchors, as kubectl prints. */
const PLAIN = { aliasDuplicateObjects: false } as const;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-routing-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(text: string | Buffer, name = 'input.yaml'): string {
  const filename = path.join(dir, name);
  writeFileSync(filename, text);
  return filename;
}

function translated(texts: readonly string[], flags: Partial<TranslateFlags> = {}) {
  const filename = texts.map((text, i) => file(text, `input-${i}.yaml`));
  const { text, ...rest } = translationOf({ ...FLAGS, ...flags, filename });
  return { ...rest, printed: JSON.parse(text.replaceAll(`${dir}/`, '')) as Record<string, unknown> };
}

describe('translate reads', () => {
  const { apiVersion: _apiVersion, kind: _kind, ...bare } = POD;
  test.each<[string, readonly string[]]>([
    ['YAML documents', [ALL.map((each) => stringify(each)).join('---\n')]],
    [
      'YAML documents with empty documents, comments and Windows line endings',
      [
        `# first\r\n---\r\n---\r\n${ALL.map((each) => stringify(each))
          .join('--- # next\n')
          .replaceAll('\n', '\r\n')}---\r\n`,
      ],
    ],
    ['a YAML list', [stringify(list(ALL))]],
    ['a JSON list', [JSON.stringify(list(ALL))]],
    ['concatenated JSON values', [ALL.map((each) => JSON.stringify(each, undefined, 2)).join('\n')]],
    ['YAML in flow style', [`{apiVersion: v1, kind: List, items: ${JSON.stringify(ALL)}}`]],
    ['several files', ALL.map((each) => stringify(each))],
    ['nested lists', [JSON.stringify(list([list([MESH]), list([UPSTREAM, list([POD])])]))]],
    [
      'the list of a kind, whose items omit the kind',
      [JSON.stringify(list([MESH, UPSTREAM])), JSON.stringify(list([bare], 'PodList'))],
    ],
    [
      'an empty list',
      [JSON.stringify(list(ALL)), 'apiVersion: v1\nkind: List\nitems: []\n', 'apiVersion: v1\nkind: PodList\n'],
    ],
  ])('%s', (_what, texts) => {
    const { printed, error } = translated(texts);
    expect(error).toBeUndefined();
    expect(printed).toMatchObject({ meshName: 'store', virtualNodes: { 'cart-vn': {} }, diagnostics: [] });
  });

  test('a large list in chunks, with the same result', () => {
    const pods = Array.from({ length: 3000 }, (_, i) => ({
      ...POD,
      metadata: {
        ...POD.metadata,
        name: `cart-${i}`,
        annotations: { note: `- a\n- ${'b'.repeat(100)}\nitems:\n- c\n` },
      },
    }));
    const whole = list([MESH, UPSTREAM, ...pods]);
    const [json, block, indented] = [
      JSON.stringify(whole),
      stringify({ ...whole, metadata: { resourceVersion: '' } }, { ...PLAIN, indentSeq: false }),
      stringify(whole, PLAIN),
    ].map((text) => translated([text]).printed);
    expect(block).toEqual(json);
    expect(indented).toEqual(json);
    expect(json).toMatchObject({ virtualNodes: { 'cart-vn': {} }, diagnostics: [] });
  });

  test('a large list with the right line number for each field', () => {
    const pods = Array.from({ length: 3000 }, (_, i) => ({
      ...POD,
      metadata: { ...POD.metadata, name: `cart-${i}`, annotations: { note: 'b'.repeat(100) } },
    }));
    const rule = { ...MESH, kind: 'RoutingRule', spec: { targetMesh: { nam: 'store' } } };
    for (const indentSeq of [true, false]) {
      const text = stringify(list([MESH, ...pods, rule, ...pods.slice(0, 3)]), { ...PLAIN, indentSeq });
      const line = text.slice(0, text.indexOf('nam: store')).split('\n').length;
      const reported = (translated([text]).printed['diagnostics'] as { message: string }[]).map(
        ({ message }) => message,
      );
      expect(reported).toContainEqual(expect.stringContaining(`input-0.yaml:${line}:`));
    }
  });
});

test('translate reports each of thousands of invalid objects, and all unknown ones together', () => {
  const items = Array.from({ length: 5000 }, (_, i) => [
    { ...POD, kind: 'ConfigMap', metadata: { name: `c${i}` } },
    { ...MESH, kind: 'MeshGroup', metadata: { name: `g${i}` }, spec: { meshes: 5 } },
  ]).flat();
  const text = JSON.stringify(list([MESH, ...items]), undefined, 1);
  const { printed } = translated([text]);
  const reported = printed['diagnostics'] as { code: string; message: string }[];
  expect(reported.filter(({ code }) => code === 'KIND_UNKNOWN')).toHaveLength(1);
  expect(reported.filter(({ code }) => code === 'OBJECT_INVALID')).toHaveLength(5000);
  const [, line] = reported.at(-1)!.message.split(':');
  expect(text.split('\n')[Number(line) - 1]).toContain('"meshes": 5');
});

describe('translate reports an error for', () => {
  test.each([
    ['invalid YAML', 'a: [1\nb: 2\n', ':1:5: '],
    [
      'plain text',
      'just words\n',
      ':1:1: an object of Kubernetes is a mapping with apiVersion, kind and metadata, found "just words"',
    ],
    ['a missing kind', 'apiVersion: v1\nmetadata: {name: a}\n', ':1:1: kind is missing'],
    [
      'a kind that is not a string',
      'apiVersion: v1\nkind: 5\nmetadata: {name: a}\n',
      ':2:1: kind must be a string, found 5: put it in quotes',
    ],
    ['a missing name', 'apiVersion: v1\nkind: Pod\nmetadata: {}\n', ':3:1: metadata.name is missing'],
    ['an item of a list', JSON.stringify(list([MESH, 5]), undefined, 1), ':18:3: an object of Kubernetes is a mapping'],
    ['truncated JSON', '{"apiVersion": "v1",\n "kind": "Pod"', ':2:'],
    ['endless brackets', `a: 1\nb: ${'['.repeat(200_000)}`, ':2:104: lists and maps are nested more than 100 deep'],
    ['brackets alone', '['.repeat(200_000), ':1:101: lists and maps are nested more than 100 deep'],
    ['braces over many lines', '{a:\n'.repeat(20_000), ':101:1: lists and maps are nested more than 100 deep'],
    ['endless dashes', '- '.repeat(20_000), ':1:201: lists and maps are nested more than 100 deep'],
    [
      'JSON that is nested too deeply',
      `{"a[": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
      ':1:107: lists and maps are nested more than 100 deep',
    ],
    ['a duplicate key', 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n', ':5:3: the key is given twice'],
    [
      'a duplicate key in JSON',
      '{"apiVersion": "v1",\n "kind": "Pod",\n "metadata": {"name": "a:\\"", "labels": {"name": "b"},\n  "na\\u006de": "c"}}',
      ':4:3: the key is given twice',
    ],
    [
      'a duplicate key in one of several JSON values',
      '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}\n{"kind": "Pod",\n "kind": "Pod"}',
      ':3:2: the key is given twice',
    ],
    [
      'a duplicate key in a JSON list',
      '{"apiVersion": "v1", "kind": "List", "items": [\n{"kind": "Pod", "metadata": {"name": "a", "name": "a"}}]}',
      ':2:43: the key is given twice',
    ],
    ['bytes that are not UTF-8', Buffer.from('a: 1\nb: "\xff"\n', 'latin1'), ':2:5: the text is not UTF-8'],
    [
      'an alias that contains itself',
      'apiVersion: v1\nkind: Pod\nmetadata: &m\n  name: a\n  labels: {x: *m}\n',
      ':5:12: metadata.labels.x: an alias stands for something that it is a part of',
    ],
    [
      'aliases that expand exponentially',
      `a: &a [1, 1]\n${bomb()}`,
      ':2:8: aliases of aliases would make it too large',
    ],
    [
      'an error in the second document',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: Pod\n',
      ':5:1: apiVersion is missing',
    ],
  ])('%s', (_what, text, expected) => {
    const filename = file(text);
    expect(() => translationOf({ ...FLAGS, filename: [filename] })).toThrow(`-f ${filename}${expected}`);
  });

  test('a file that does not exist', () => {
    const { stdout, stderr, status } = run(['-f', path.join(dir, 'gone.yaml'), '--to', 'appmesh-api']);
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain('gone.yaml: the file does not exist');
  });

  test('a directory without a mesh', () => {
    const empty = mkdtempSync(path.join(dir, 'empty-'));
    const { stdout, status } = run(['-f', empty, '--to', 'appmesh-api']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'MESH_NOT_FOUND' }, diagnostics: [] });
  });

  const rule = (spec: object): object => ({
    ...MESH,
    kind: 'RoutingRule',
    metadata: { name: 'r', namespace: 'x' },
    spec,
  });
  test.each<[string, object, string]>([
    ['an unknown field', rule({ targetMesh: { nam: 'a' } }), 'spec.targetMesh.nam: unknown field'],
    ['a weight below zero', shifting({ weight: -1 }), '.weight: must be a whole number from 0 to 4294967295, found -1'],
    ['a weight that is too large', shifting({ weight: 4_294_967_296 }), 'found 4294967296'],
    ['a weight that is not a number', shifting({ weight: 'ten' }), '.weight: must be a number, found "ten"'],
    [
      'a prefix that is not a string',
      rule({ requestMatchers: [{ prefix: 5 }] }),
      'spec.requestMatchers[0].prefix: must be a string, found 5',
    ],
    ['an object instead of a list', rule({ requestMatchers: { prefix: '/' } }), 'spec.requestMatchers: must be a list'],
    [
      'a mesh of two kinds',
      { ...MESH, spec: { awsAppMesh: {}, istio: {} } },
      'spec.istio: only one of awsAppMesh, istio may be set',
    ],
    [
      'a port that is not a string',
      { ...POD, spec: { initContainers: [{ env: [{ name: 'APPMESH_APP_PORTS', value: 80 }] }] } },
      'spec.initContainers[0].env[0].value: must be a string, found 80: put it in quotes',
    ],
    [
      'a label that is not a string',
      { ...POD, metadata: { name: 'p', labels: { version: 1 } } },
      'metadata.labels.version: must be a string, found 1',
    ],
    ...[MESH, { ...MESH, kind: 'MeshGroup' }, rule({}), UPSTREAM, POD].map((each): [string, object, string] => [
      `a spec of a ${(each as { kind: string }).kind} that is not an object`,
      { ...each, spec: 5 },
      'spec: must be an object, found 5',
    ]),
    [
      'an invalid upstream',
      { ...UPSTREAM, spec: { kube: { servicePort: 'http' } } },
      'spec.kube.servicePort: must be a number, found "http"',
    ],
  ])('%s', (_what, object, expected) => {
    for (const text of [stringify(object), JSON.stringify(object, undefined, 2)]) {
      const { printed } = translated([JSON.stringify(list(ALL)), text]);
      const [reported] = printed['diagnostics'] as { code: string; severity: string; message: string }[];
      expect(reported).toMatchObject({ code: 'OBJECT_INVALID', severity: 'error' });
      expect(reported!.message).toMatch(/^input-1\.yaml:\d+:\d+: /);
      expect(reported!.message).toContain(expected);
      const [, line] = reported!.message.split(':');
      const [, field] = /(\w+): (?:must|unknown|only)/.exec(reported!.message)!;
      expect(text.split('\n')[Number(line) - 1]).toContain(field);
      expect(printed).toMatchObject({ virtualNodes: { 'cart-vn': {} } });
    }
  });

  function shifting(destination: object): object {
    return rule({ spec: { trafficShifting: { destinations: { destinations: [destination] } } } });
  }
});

function run(args: readonly string[], input = '') {
  const env = { ...process.env, KUBECONFIG: '/nowhere', NO_COLOR: '1' };
  return spawnSync(process.execPath, [BIN, 'routing', 'translate', ...args], { input, encoding: 'utf8', env });
}

describe('the command translate', () => {
  test('reads standard input and prints the input of the App Mesh API', () => {
    const { stdout, stderr, status } = run(['-f', '-', '--to', 'appmesh-api'], JSON.stringify(list(ALL)));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      meshName: 'store',
      virtualNodes: {
        'cart-vn': {
          meshName: 'store',
          virtualNodeName: 'cart-vn',
          spec: {
            backends: [],
            listeners: [{ portMapping: { port: 80, protocol: 'http' } }],
            serviceDiscovery: { dns: { hostname: 'cart.shop.svc.cluster.local' } },
          },
        },
      },
      virtualServices: {
        'cart.shop.svc.cluster.local': {
          meshName: 'store',
          virtualServiceName: 'cart.shop.svc.cluster.local',
          spec: { provider: { virtualNode: { virtualNodeName: 'cart-vn' } } },
        },
      },
      virtualRouters: {},
      routes: {},
      diagnostics: [],
    });
  });

  test('prints objects for kubectl apply, and diagnostics on standard error', () => {
    const input = JSON.stringify(list([...ALL, { ...POD, kind: 'ConfigMap' }]));
    const { stdout, stderr, status } = run(['-f', '-', '--to', 'appmesh-crd', '-o', 'yaml', '--no-allow-all'], input);
    expect(status).toBe(0);
    expect(parse(stdout)).toMatchObject({ kind: 'List', items: [{ kind: 'Mesh' }, { kind: 'VirtualNode' }] });
    expect(stderr).toMatch(/^warning: ConfigMap shop\/cart-1: KIND_UNKNOWN: standard input:1:\d+: /);
  });

  test('prints a rejected mesh as an error and exits with 1', () => {
    const input = JSON.stringify(list([MESH, POD]));
    const { stdout, stderr, status } = run(['-f', '-', '--to', 'appmesh-api', '--mode', 'compat'], input);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      meshName: 'store',
      error: {
        code: 'VN_NO_SERVICE',
        message: 'translating mesh config: the host of virtual node cart-vn is not known: no services match its pods',
      },
      diagnostics: [expect.objectContaining({ code: 'VN_NO_SERVICE', object: 'Mesh mesh-system/store' })],
    });
    expect(stderr).toBe(
      'error: VN_NO_SERVICE: translating mesh config: the host of virtual node cart-vn is not known: no services match its pods\ncode: VN_NO_SERVICE, see "offshoot errors VN_NO_SERVICE"\n',
    );
  });

  test('reports a rejected rule, and exits with 1 with --fail-on-errors', () => {
    const rule = { ...MESH, kind: 'RoutingRule', metadata: { name: 'r', namespace: 'x' }, spec: { targetMesh: {} } };
    for (const to of ['appmesh-api', 'appmesh-crd']) {
      const args = ['-f', '-', '--to', to];
      const input = JSON.stringify(list([...ALL, rule]));
      const plain = run(args, input);
      expect(plain.status).toBe(0);
      expect(plain.stdout + plain.stderr).toContain('TARGET_MESH_NOT_FOUND');
      const failing = run([...args, '--fail-on-errors'], input);
      expect(failing.status).toBe(1);
      expect(failing.stdout).toBe(plain.stdout);
      expect(failing.stderr).toContain('error: TARGET_MESH_NOT_FOUND: no target mesh');
    }
    const warned = run(
      ['-f', '-', '--to', 'appmesh-api', '--fail-on-errors'],
      JSON.stringify(list([...ALL, { ...POD, kind: 'Job' }])),
    );
    expect(warned.status).toBe(0);
  });

  test('exits with 1 if all rules of a mesh are rejected, and prints the rest', () => {
    const upstream = { name: 'shop-cart-80', namespace: 'gloo-system' };
    const rule = (name: string, matchers: readonly object[]): object => ({
      ...MESH,
      kind: 'RoutingRule',
      metadata: { name, namespace: 'shop' },
      spec: {
        targetMesh: MESH.metadata,
        requestMatchers: matchers,
        spec: { trafficShifting: { destinations: { destinations: [{ weight: 1, destination: { upstream } }] } } },
      },
    });
    const [bad, good] = [rule('bad', []), rule('good', [{ prefix: '/' }])];
    const translated = (...rules: object[]): { status: number | null; output: Record<string, unknown> } => {
      const { status, stdout } = run(['-f', '-', '--to', 'appmesh-api'], JSON.stringify(list([...ALL, ...rules])));
      return { status, output: JSON.parse(stdout) as Record<string, unknown> };
    };
    const reported = [expect.objectContaining({ code: 'RULE_NO_MATCHERS', object: 'RoutingRule shop/bad' })];

    const alone = translated(bad);
    expect(alone.status).toBe(1);
    expect(alone.output).toMatchObject({
      error: { code: 'RULE_NO_MATCHERS', message: expect.stringContaining('shop.bad has zero matchers') as string },
      virtualNodes: { 'cart-vn': {} },
      diagnostics: reported,
    });
    const beside = translated(bad, good);
    expect(beside.status).toBe(0);
    expect(beside.output).toMatchObject({ diagnostics: reported });
    expect(beside.output).not.toHaveProperty('error');
  });

  test.each([[], ['list'], ['describe'], ['translate']])('exits with 0 for routing %s --help', (...command) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [BIN, 'routing', ...command, '--help'], {
      encoding: 'utf8',
      env: { ...process.env, KUBECONFIG: '/nowhere' },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: offshoot routing/);
    expect(stdout).toMatch(/Examples?:/);
  });

  test.each([
    [['--to', 'appmesh-api'], "required option '-f, --filename <path>' not specified"],
    [['-f', 'x'], "required option '--to <back end>' not specified"],
    [['-f', 'x', '--to', 'istio'], 'Allowed choices are appmesh-api, appmesh-crd'],
    [['-f', 'x', '--to', 'appmesh-api', '--mode', 'loose'], 'Allowed choices are strict, compat'],
  ])('names the valid flags for %j', (args, expected) => {
    const { stdout, stderr, status } = run(args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(expected);
  });
});

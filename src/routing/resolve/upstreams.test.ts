// The hosts of upstreams, and selectors.
import { describe, expect, test } from 'vitest';
import type { Pod, Ref, Selector, Upstream } from '../model.ts';
import { finder } from './find.ts';
import { hostAndPort, PodIndex, podsOf, selectUpstreams } from './upstreams.ts';

const ref = (name: string, namespace = 'gloo-system'): Ref => ({ name, namespace });

function upstream(name: string, spec: Upstream['spec'], labels = {}, namespace?: string): Upstream {
  return { ref: ref(name, namespace), labels, spec };
}

function kube(name: string, service: string, selector?: Record<string, string>, namespace = 'shop'): Upstream {
  return upstream(name, { kind: 'kube', service: { name: service, namespace }, port: 80, selector });
}

describe('hostAndPort', () => {
  test.each<[string, Upstream['spec'], unknown]>([
    [
      'kube',
      { kind: 'kube', service: ref('cart', 'shop'), port: 80, selector: {} },
      { host: 'cart.shop.svc.cluster.local', port: 80 },
    ],
    ['static', { kind: 'static', addr: 'example.com', port: 443 }, { host: 'example.com', port: 443 }],
    ['static without hosts', { kind: 'static', addr: undefined, port: 1 }, 'UPSTREAM_HOST'],
    ['static without a port', { kind: 'static', addr: 'a', port: undefined }, 'UPSTREAM_PORT'],
    ['aws', { kind: 'aws' }, 'UPSTREAM_HOST'],
    ['azure', { kind: 'azure' }, 'UPSTREAM_HOST'],
    ['consul', { kind: 'consul' }, 'UPSTREAM_HOST'],
    ['nothing', { kind: 'none' }, 'UPSTREAM_HOST'],
  ])('of an upstream of type %s', (_kind, spec, expected) => {
    const found = hostAndPort(upstream('it', spec), 'compat');
    expect('problem' in found ? found.problem.code : found).toEqual(expected);
  });

  test('reports an empty name and a port of 0 in strict mode only', () => {
    const nameless = upstream('it', { kind: 'kube', service: ref('', 'shop'), port: 80, selector: {} });
    const portless = upstream('it', { kind: 'kube', service: ref('a', 'shop'), port: 0, selector: {} });
    expect(hostAndPort(nameless, 'strict')).toMatchObject({ problem: { code: 'UPSTREAM_HOST' } });
    expect(hostAndPort(portless, 'strict')).toMatchObject({ problem: { code: 'UPSTREAM_PORT' } });
    expect(hostAndPort(nameless, 'compat')).toEqual({ host: '.shop.svc.cluster.local', port: 80 });
  });
});

const all = [
  kube('a', 'details', { app: 'details' }),
  kube('b', 'details', { app: 'details', version: 'v1' }),
  kube('c', 'cart', { app: 'cart' }),
  kube('d', 'cart', undefined, 'far'),
  upstream('e', { kind: 'static', addr: 'x', port: 1 }, { app: 'details' }, 'shop'),
];

function selected(selector: Selector | undefined): string {
  const found = selectUpstreams(selector, all, finder(all));
  return 'missing' in found ? `missing ${found.missing.name}` : found.upstreams.map((each) => each.ref.name).join('');
}

describe('selectUpstreams', () => {
  test.each<[string, Selector | undefined, string]>([
    ['without a selector: all', undefined, 'abcde'],
    ['with an empty selector: none', { by: 'nothing' }, ''],
    ['by the labels of the service, or its own', { by: 'labels', labels: { app: 'details' } }, 'abe'],
    ['by no labels: all', { by: 'labels', labels: {} }, 'abcde'],
    ['by name: in the order of the references', { by: 'upstreams', refs: [ref('c'), ref('a')] }, 'ca'],
    ['by name without a namespace: in any namespace', { by: 'upstreams', refs: [ref('e', '')] }, 'e'],
    ['by name: each must exist', { by: 'upstreams', refs: [ref('a'), ref('gone')] }, 'missing gone'],
    ['by service name and namespace', { by: 'services', refs: [ref('cart', 'shop')] }, 'c'],
    ['by service without a namespace: none', { by: 'services', refs: [ref('cart', '')] }, ''],
    ['by the namespace of the service, or its own', { by: 'namespaces', namespaces: ['shop'] }, 'abce'],
  ])('selects %s', (_what, selector, expected) => {
    expect(selected(selector)).toBe(expected);
  });
});

describe('podsOf', () => {
  const pod = (name: string, labels: Record<string, string>, namespace = 'shop'): { pod: Pod } => ({
    pod: {
      ref: ref(name, namespace),
      labels,
      nodeNames: [],
      arns: [],
      portLists: [],
      portsAnnotation: undefined,
      namedPorts: {},
    },
  });
  const index = new PodIndex([
    pod('a', { app: 'x', v: '1' }),
    pod('b', { app: 'x', v: '2' }),
    pod('c', { app: 'y', v: '1' }),
    pod('d', { app: 'x', v: '1' }, 'far'),
  ]);
  const names = (selector: Record<string, string> | undefined, mode: 'compat' | 'strict'): string =>
    podsOf(index, 'shop', selector, mode)
      .map((each) => each.pod.ref.name)
      .join('');

  test.each([
    [{ app: 'x' }, 'ab'],
    [{ app: 'x', v: '1' }, 'a'],
    [{ v: '1', app: 'x' }, 'a'],
    [{ app: 'z' }, ''],
    [{ app: 'x', gone: '1' }, ''],
    [undefined, ''],
  ])('selects pods by %o', (selector, expected) => {
    expect(names(selector, 'compat')).toBe(expected);
    expect(names(selector, 'strict')).toBe(expected);
  });

  test('with an empty selector selects all pods of the namespace in compat mode, and none in strict mode', () => {
    expect(names({}, 'compat')).toBe('abc');
    expect(names({}, 'strict')).toBe('');
  });
});

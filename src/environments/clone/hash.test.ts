import { expect, test } from 'vitest';
import type { Subset } from '../../api/dynamicenv.ts';
import { subsetHash } from './hash.ts';

function details(namespace: string, tag: string, topic: string, more: Partial<Subset> = {}): Subset {
  const image = `docker.io/istio/examples-bookinfo-details-v2:${tag}`;
  const containers = [{ containerName: 'details', image, env: [{ name: 'TOPIC_NAME', value: topic }] }];
  return { name: 'details', namespace, containers, ...more };
}
const ab = (more: Partial<Subset> = {}): Subset => ({ name: 'a', namespace: 'b', ...more });
const env = (valueFrom: object): Subset =>
  ab({ containers: [{ containerName: 'c', env: [{ name: 'E', valueFrom }] }] });

const vectors: [string, Subset, bigint][] = [
  ['a subset', details('services', '1.16.2', 'test'), 1157382594159137535n],
  ['another namespace', details('update-subset-resources', '1.16.2', 'test'), -5576677875946656812n],
  ['another image and value', details('update-subset-resources', '1.16.3', 'test2'), 3856039101763933687n],
  ['names alone', ab(), -3197788097005437871n],
  ['no replicas', details('replica-size', '1.16.2', 'test'), 6478501241691418625n],
  ['two replicas', details('replica-size', '1.16.2', 'test', { replicas: 2 }), 4493432412188082726n],
  [
    'pod labels',
    details('multiple-matches', '1.16.2', 'test', { podLabels: { 'x-key': 'x-value' } }),
    -2578220274792597973n,
  ],
  [
    'several pod labels',
    ab({ podLabels: { k1: 'v1', k2: 'v2' }, containers: [{ containerName: 'c' }] }),
    8903810247147360235n,
  ],
  ['init containers', ab({ initContainers: [{ containerName: 'init', image: 'i:1' }] }), 1476195789723579654n],
  ['a secret key', env({ secretKeyRef: { name: 's', key: 'k' } }), 6437001226101852840n],
  [
    'an optional config map key',
    env({ configMapKeyRef: { name: 's', key: 'k', optional: true } }),
    8190596152480454396n,
  ],
  ['a field', env({ fieldRef: { fieldPath: 'metadata.name' } }), -7888404727523506769n],
];

test.each(vectors)('subsetHash has the value of the original for %s', (_what, subset, hash) => {
  expect(subsetHash(subset)).toBe(hash);
});

test('subsetHash depends on the order of containers, not of labels', () => {
  expect(subsetHash(ab({ podLabels: { a: '1', b: '2' } }))).toBe(subsetHash(ab({ podLabels: { b: '2', a: '1' } })));
  const [x, y] = [{ containerName: 'x' }, { containerName: 'y' }];
  expect(subsetHash(ab({ containers: [x, y] }))).not.toBe(subsetHash(ab({ containers: [y, x] })));
});

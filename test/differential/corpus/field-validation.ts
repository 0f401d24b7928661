// Unknown and duplicate fields under Strict, Warn and Ignore.
import { apply, configMap, core, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { deployment } from './workload-bodies.ts';

const maps = core('configmaps');
const unknown = { ...configMap('a', { k: 'v' }), extra: 1, more: { deep: true } };
const nested = deployment('d', {
  replicas: 0,
  replica: 3,
  template: {
    metadata: { labels: { app: 'd' } },
    spec: { containers: [{ name: 'c', image: 'i', imag: 'x', ports: [{ containerPort: 80, hostport: 1 }] }] },
  },
});
const doubled = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"a"},"data":{"k":"v","k":"w"}}';

/** As text, because in an object literal `__proto__` is not a field. */
const configMapWith = (fields: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-"},${fields}}`;

const modes = ['Strict', 'Warn', 'Ignore'] as const;

export const fieldValidation = [
  ...modes.map((mode) =>
    scenario(
      `unknown fields under ${mode}`,
      post(maps, unknown, { query: { fieldValidation: mode } }),
      post(maps, doubled, { query: { fieldValidation: mode } }),
      post(inGroup('apps/v1', 'deployments'), nested, { query: { fieldValidation: mode, dryRun: 'All' } }),
      post(maps, configMap('b', {}), { only: ['kind'] }),
      put(core('configmaps', 'b'), { ...configMap('b', {}), extra: 1 }, { query: { fieldValidation: mode } }),
      patch('merge', core('configmaps', 'b'), { extra: 1 }, { query: { fieldValidation: mode } }),
      patch('json', core('configmaps', 'b'), [{ op: 'add', path: '/extra', value: 1 }], {
        query: { fieldValidation: mode },
      }),
      patch('strategic', core('configmaps', 'b'), { metadata: { extra: 1 } }, { query: { fieldValidation: mode } }),
      apply('one', core('configmaps', 'b'), { ...configMap('b', {}), extra: 1 }, { query: { fieldValidation: mode } }),
      patch('merge', core('configmaps', 'b'), '{"data":{"a":"1","a":"2"}}', { query: { fieldValidation: mode } }),
    ),
  ),
  scenario(
    'unknown fields named like JavaScript object properties',
    post(maps, configMapWith('"__proto__":{"a":1},"constructor":{"b":2},"toString":3')),
    post(maps, configMapWith('"data":{"__proto__":"a","constructor":"b"}')),
    post(maps, configMapWith('"__proto__":{"a":1}'), { query: { fieldValidation: 'Strict' } }),
  ),
  scenario(
    'warnings by default',
    post(maps, unknown),
    post(maps, '{"kind":"ConfigMap","apiVersion":"v1","Metadata":{"name":"c"},"metadata":{"name":"cc"}}'),
    post(
      core('pods'),
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              env: [
                { name: 'A', value: '1' },
                { name: 'A', value: '2' },
              ],
            },
          ],
          nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        },
      },
      { only: ['kind'] },
    ),
    post(
      core('pods'),
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'q', annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } },
        spec: { terminationGracePeriodSeconds: -1, containers: [{ name: 'c', image: 'i' }] },
      },
      { only: ['kind'] },
    ),
  ),
];

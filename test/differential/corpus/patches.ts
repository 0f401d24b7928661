// JSON, merge and strategic patches: what they change, and which are refused.
import { ignoringControllers, configMap, core, get, inGroup, patch, post, scenario } from '../scenario.ts';
import { deployment } from './workload-bodies.ts';

const maps = core('configmaps');
const a = core('configmaps', 'a');
const d = inGroup('apps/v1', 'deployments', 'd');
const create = post(maps, configMap('a', { one: '1', two: '2' }, { labels: { app: 'x' } }), {
  keep: { version: 'metadata.resourceVersion' },
});

export const patches = [
  scenario(
    'JSON patches',
    create,
    patch('json', a, [{ op: 'add', path: '/data/three', value: '3' }]),
    patch('json', a, [{ op: 'replace', path: '/data/one', value: 'eins' }]),
    patch('json', a, [{ op: 'remove', path: '/data/two' }]),
    patch('json', a, [
      { op: 'test', path: '/data/one', value: 'eins' },
      { op: 'move', from: '/data/one', path: '/data/uno' },
    ]),
    patch('json', a, [{ op: 'copy', from: '/data/uno', path: '/data/duo' }]),
    patch('json', a, [{ op: 'add', path: '/metadata/annotations', value: { 'a~b/c': 'x' } }]),
    patch('json', a, [{ op: 'replace', path: '/metadata/annotations/a~0b~1c', value: 'y' }], {
      only: ['reason', 'code'],
    }),
    get(a),
  ),
  scenario(
    'invalid JSON patches',
    create,
    patch('json', a, [{ op: 'test', path: '/data/one', value: 'wrong' }]),
    patch('json', a, [{ op: 'remove', path: '/data/missing' }]),
    patch('json', a, [{ op: 'replace', path: '/data/missing', value: 'x' }]),
    patch('json', a, [{ op: 'add', path: '/nothing/here', value: 'x' }]),
    patch('json', a, [{ op: 'odd', path: '/data/one' }]),
    patch('json', a, { op: 'add' }, { only: ['code', 'reason'] }),
    patch('json', a, '[{'),
    patch('json', a, [{ op: 'replace', path: '/metadata/name', value: 'b' }]),
    patch('json', a, [{ op: 'replace', path: '/kind', value: 'Secret' }]),
    patch('json', a, [{ op: 'add', path: '/data/one', value: 1 }]),
    patch('json', a, [{ op: 'replace', path: '/metadata/labels/app', value: 'not ok!' }]),
    patch('json', a, [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }]),
    get(a),
  ),
  scenario(
    'merge patches',
    create,
    patch('merge', a, { data: { one: null, three: '3' } }),
    patch('merge', a, { metadata: { labels: { app: null, tier: 'web' }, annotations: { x: 'y' } } }),
    patch('merge', a, { metadata: { labels: null } }),
    patch('merge', a, { data: null }),
    patch('merge', a, {}),
    patch('merge', a, { metadata: { resourceVersion: '<version>' }, data: { x: 'y' } }),
    patch('merge', a, { metadata: { uid: '00000000-0000-0000-0000-000000000000' } }),
    patch('merge', a, { metadata: { name: 'b' } }),
    patch('merge', a, { metadata: { namespace: 'other' } }),
    patch('merge', a, { kind: 'Secret' }),
    patch('merge', a, { apiVersion: 'v2' }),
    patch('merge', a, []),
    patch('merge', a, 'null', { only: ['code', 'reason'] }),
    patch('merge', a, { data: { one: 5 } }),
    patch('merge', a, { data: { 'bad key': 'x' } }),
  ),
  scenario(
    'strategic patches of lists',
    ...ignoringControllers(
      post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { only: ['kind'] }),
      patch('strategic', d, { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } }),
      patch('strategic', d, { spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } } }),
      patch('strategic', d, {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'c',
                  env: [
                    { name: 'A', value: '1' },
                    { name: 'B', value: '2' },
                  ],
                },
              ],
            },
          },
        },
      }),
      patch('strategic', d, {
        spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', $patch: 'delete' }] }] } } },
      }),
      patch('strategic', d, {
        spec: { template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] } } },
      }),
      patch('strategic', d, {
        spec: {
          template: {
            spec: { containers: [{ name: 'c', ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }] }] },
          },
        },
      }),
      patch('strategic', d, { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }),
      patch('strategic', d, {
        spec: {
          template: {
            spec: {
              $setElementOrder: undefined,
              '$setElementOrder/containers': [{ name: 'z' }, { name: 'c' }],
              containers: [{ name: 'z', image: 'z' }],
            },
          },
        },
      }),
      patch('strategic', d, {
        spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'only', image: 'o' }] } } },
      }),
      patch('strategic', d, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
      patch(
        'strategic',
        d,
        { metadata: { finalizers: ['example.com/a', 'example.com/b'] } },
        { only: ['metadata.finalizers'] },
      ),
      patch(
        'strategic',
        d,
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
        { only: ['metadata.finalizers'] },
      ),
      patch('strategic', d, { metadata: { finalizers: null } }, { only: ['metadata.finalizers'] }),
      patch('strategic', d, { metadata: { labels: { $patch: 'replace', x: 'y' } } }, { only: ['metadata.labels'] }),
      patch(
        'strategic',
        d,
        { spec: { template: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } } } },
        { only: ['spec.template.spec.volumes'] },
      ),
      patch('strategic', d, { spec: { template: { spec: { volumes: [{ name: 'v', configMap: { name: 'x' } }] } } } }),
      patch(
        'strategic',
        d,
        { spec: { template: { spec: { volumes: [{ name: 'v', emptyDir: null, configMap: { name: 'x' } }] } } } },
        { only: ['spec.template.spec.volumes'] },
      ),
      patch(
        'strategic',
        d,
        { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } } },
        { only: ['spec.template.spec.tolerations'] },
      ),
      patch(
        'strategic',
        d,
        { spec: { template: { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } } } },
        { only: ['spec.template.spec.tolerations'] },
      ),
    ),
  ),
  scenario(
    'invalid strategic patches',
    ...ignoringControllers(
      post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { only: ['kind'] }),
      patch('strategic', d, { spec: { template: { spec: { containers: [{ image: 'nameless' }] } } } }),
      patch('strategic', d, { spec: { replicas: 'two' } }, { only: ['code', 'reason'] }),
      patch('strategic', d, { spec: { template: { spec: { containers: 'none' } } } }, { only: ['code', 'reason'] }),
      patch('strategic', d, { metadata: { labels: { $patch: 'odd' } } }),
      patch('strategic', d, { spec: { selector: { matchLabels: { app: 'x' } } } }),
      patch('strategic', d, []),
      patch('strategic', d, '{'),
    ),
  ),
  scenario(
    'patches without changes keep the resource version',
    create,
    patch(
      'merge',
      a,
      { data: { one: '1' } },
      { only: ['metadata.resourceVersion'], keep: { after: 'metadata.resourceVersion' } },
    ),
    patch('merge', a, { metadata: { resourceVersion: '<version>' } }, { only: ['kind', 'code'] }),
    patch('json', a, [], { only: ['kind'] }),
    patch('strategic', a, { metadata: { resourceVersion: '<version>' } }, { only: ['kind', 'code'] }),
  ),
  scenario(
    'changes of the spec raise the generation, labels do not',
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { only: ['metadata.generation'] }),
    patch('merge', d, { spec: { paused: true } }, { only: ['metadata.generation'] }),
    patch('merge', d, { metadata: { labels: { a: 'b' } } }, { only: ['metadata.generation'] }),
    patch('merge', d, { spec: { paused: true } }, { only: ['metadata.generation'] }),
    patch('merge', d, { status: { replicas: 9 } }, { only: ['metadata.generation', 'status.replicas'] }),
  ),
];

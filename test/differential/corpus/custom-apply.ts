// Server-side apply, subresources, selectors and collections of custom resources.
import {
  apply,
  del,
  get,
  metadataListType,
  metadataType,
  patch,
  post,
  put,
  scenario,
  tableType,
  watch,
} from '../scenario.ts';
import { install, name, remove, spec, w, widget, widgets } from './widgets.ts';

const ports = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: {
    type: 'object',
    required: ['port'],
    properties: {
      port: { type: 'integer' },
      protocol: { type: 'string', default: 'TCP' },
      name: { type: 'string' },
    },
  },
};
const rich = {
  ...spec({
    ports,
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    plain: { type: 'array', items: { type: 'string' } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    mode: { type: 'string', default: 'auto' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }),
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string' },
      conditions: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
        items: {
          type: 'object',
          required: ['type'],
          properties: { type: { type: 'string' }, status: { type: 'string' } },
        },
      },
    },
  },
};
const withStatus = { subresources: { status: {} } };
const port = (number: number, more: object = {}): object => ({ port: number, ...more });

export const customApply = [
  scenario(
    'apply on lists of custom resources',
    ...install(rich, withStatus),
    apply('one', w, widget({ ports: [port(80, { name: 'web' })], tags: ['a', 'b'], plain: ['x'], whole: { k: 'v' } })),
    apply('two', w, widget({ ports: [port(443)], tags: ['c'] })),
    apply('two', w, widget({ ports: [port(80, { name: 'other' })] })),
    apply('two', w, widget({ ports: [port(80, { protocol: 'UDP' })], plain: ['y'] })),
    apply('two', w, widget({ plain: ['y'], whole: { other: 'v' } }), { query: { force: 'true' } }),
    apply('one', w, widget({ ports: [port(80, { name: 'web' })], tags: ['a'] })),
    apply('one', w, widget({ ports: [port(80), port(80)] })),
    apply('one', w, widget({ tags: ['a', 'a'] })),
    apply('one', w, widget({ ports: [{ name: 'no-port' }] })),
    apply('one', w, widget({ free: { deep: { er: [1, { x: 1 }] } } })),
    apply('three', w, widget({ free: { deep: { er: [2] } } })),
    apply('one', w, widget({})),
    get(w),
    ...remove,
  ),
  scenario(
    'apply on the status of custom resources',
    ...install(rich, withStatus),
    apply('one', w, { ...widget({ mode: 'hand' }), status: { phase: 'Ready' } }),
    apply('two', `${w}/status`, { ...widget({ mode: 'other' }), status: { phase: 'Ready' } }),
    apply('two', `${w}/status`, {
      ...widget(),
      status: { conditions: [{ type: 'A', status: 'True' }] },
    }),
    apply('three', `${w}/status`, {
      ...widget(),
      status: { conditions: [{ type: 'B', status: 'True' }] },
    }),
    apply('three', `${w}/status`, { ...widget(), status: { conditions: [{ type: 'A', status: 'False' }] } }),
    patch('merge', `${w}/status`, { metadata: { labels: { x: 'y' } }, status: { phase: 'Other' } }),
    patch('json', `${w}/status`, [{ op: 'replace', path: '/spec', value: { mode: 'x' } }]),
    put(`${w}/status`, widget({}, { resourceVersion: '1' }), { only: ['code', 'reason'] }),
    apply('two', `${widgets}/missing/status`, { ...widget(undefined, { name: 'missing' }), status: {} }),
    get(`${w}/status`),
    ...remove,
  ),
  scenario(
    'invalid patches of subresources',
    ...install(
      {
        ...spec({ replicas: { type: 'integer' } }),
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
      {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ),
    post(widgets, widget({ replicas: 1 }), { only: ['kind'] }),
    patch('strategic', `${w}/status`, { status: {} }),
    patch('strategic', `${w}/scale`, { spec: { replicas: 2 } }),
    patch('merge', `${w}/scale`, { spec: { replicas: 'x' } }),
    patch('merge', `${w}/scale`, [1]),
    patch('json', `${w}/scale`, [{ op: 'test', path: '/spec/replicas', value: 7 }]),
    patch('json', `${w}/scale`, { spec: { replicas: 2 } }),
    { ...patch('merge', `${w}/scale`, { spec: { replicas: 2 } }), contentType: 'text/plain' },
    apply('one', `${w}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w' },
      spec: { replicas: 3 },
    }),
    apply('two', `${w}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w' },
      spec: { replicas: 4 },
    }),
    put(`${w}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w', namespace: '<ns>' },
      spec: {},
    }),
    get(w, { only: ['spec', 'metadata.managedFields', 'metadata.generation'] }),
    post(`${w}/scale`, {}),
    del(`${w}/scale`),
    get(`${w}/nothing`),
    ...remove,
  ),
  scenario(
    'selectable fields of custom resources',
    ...install(spec({ color: { type: 'string' }, size: { type: 'integer' }, on: { type: 'boolean' } }), {
      selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }, { jsonPath: '.spec.on' }],
    }),
    ...['red', 'blue'].map((color) =>
      post(widgets, widget({ color, size: color.length, on: color === 'red' }, { name: color }), { only: ['kind'] }),
    ),
    post(widgets, widget({}, { name: 'plain' }), { only: ['kind'] }),
    ...[
      'spec.color=red',
      'spec.color!=red',
      'spec.size=4',
      'spec.on=true',
      'spec.on=',
      'spec.color=',
      'metadata.name=red,spec.color=red',
    ].map((fieldSelector) => get(widgets, { query: { fieldSelector }, only: ['items[*].metadata.name'] })),
    get(widgets, { query: { fieldSelector: 'spec.shape=round' } }),
    get(widgets, { query: { fieldSelector: 'status.phase=x' } }),
    watch(widgets, 1, { fieldSelector: 'spec.color=blue' }),
    del(widgets, undefined, { query: { fieldSelector: 'spec.color=blue' }, only: ['kind', 'items[*].metadata.name'] }),
    get(widgets, { only: ['items[*].metadata.name'] }),
    get(name, { only: ['spec.versions[0].selectableFields'] }),
    ...remove,
  ),
  scenario(
    'custom resources as tables and metadata',
    ...install(spec({ size: { type: 'integer' } }), {
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    }),
    post(widgets, widget({ size: 1 }, { labels: { a: 'b' } }), { accept: metadataType }),
    get(widgets, { accept: metadataListType }),
    get(w, { accept: tableType, only: ['kind', 'columnDefinitions[*].name', 'rows'] }),
    { ...watch(widgets, 1), accept: metadataType },
    { ...watch(widgets, 1), accept: tableType },
    patch('merge', w, { spec: { size: 2 } }, { accept: metadataType }),
    del(w, undefined, { accept: metadataType }),
    ...remove,
  ),
];

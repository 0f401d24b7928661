// Conversion webhooks (../conversions.ts): custom resources in two versions, one of which is stored.
import { apply, del, get, metadataType, patch, post, put, scenario, tableType, watch } from '../scenario.ts';
import type { Step } from '../scenario.ts';
import { configuration, plural } from './webhooks.ts';
import { definition, definitions, name, remove, spec, w, widget, widgets } from './widgets.ts';

const tag = { type: 'string' };
const size = { type: 'integer', default: 1, maximum: 100 };
const status = { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } };
const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' };
const first = {
  schema: { ...spec({ size, tag }), status },
  more: {
    subresources: { status: {}, scale },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    selectableFields: [{ jsonPath: '.spec.tag' }],
  },
};
const second = {
  name: 'v2',
  schema: { ...spec({ dimensions: { type: 'object', properties: { size } }, tag }), status },
  more: {
    subresources: { status: {}, scale: { ...scale, specReplicasPath: '.spec.dimensions.size' } },
    additionalPrinterColumns: [{ name: 'Big', type: 'integer', jsonPath: '.spec.dimensions.size' }],
    selectableFields: [{ jsonPath: '.spec.dimensions.size' }],
  },
};

const conversion = (path: string, conversionReviewVersions = ['v1']): object => ({
  conversion: {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: `<hook>${path}`, caBundle: '<hookCa>' }, conversionReviewVersions },
  },
});

const rule = { apiGroups: ['<ns>.example.com'], apiVersions: ['v1'], resources: ['widgets'] };
const v2Widgets = '/apis/<ns>.example.com/v2/namespaces/<ns>/widgets';
const w2 = `${v2Widgets}/w`;
const v2Widget = (dimensions: unknown, more: object = {}, metadata: object = {}): object =>
  widget({ dimensions: { size: dimensions }, ...more }, metadata, 'v2');

/** Serves both versions, with the conversion webhook at the given path. */
const installed = (path: string, stored: 'v1' | 'v2' = 'v1', reviews = ['v1']): Step[] => [
  post(
    definitions,
    definition(
      [
        { ...first, storage: stored === 'v1' },
        { ...second, storage: stored === 'v2' },
      ],
      conversion(path, reviews),
    ),
    { only: ['kind'] },
  ),
  get(name, {
    until: { path: 'status.conditions[type=Established].status', is: 'True' },
    only: ['status.storedVersions'],
  }),
  get(widgets, { until: { code: 200 }, only: ['kind'] }),
  get(v2Widgets, { until: { code: 200 }, only: ['kind'] }),
];

/** Switches to a webhook with an invalid response, reads the error, and switches back. */
const invalidConversion = (path: string): Step[] => [
  patch('merge', name, { spec: conversion(path) }, { only: ['kind'] }),
  get(w2, { until: { code: 500 } }),
  patch('merge', name, { spec: conversion('/convert') }, { only: ['kind'] }),
  get(w2, { until: { code: 200 }, only: ['kind'] }),
];

const replaceSchema = (version: number, schema: object): Step =>
  patch(
    'json',
    name,
    [{ op: 'replace', path: `/spec/versions/${version}/schema/openAPIV3Schema/properties`, value: schema }],
    { only: ['kind'] },
  );

export const conversions = [
  scenario(
    'a schema change with stored objects',
    post(
      definitions,
      definition([{ schema: spec({ size, tag }) }, { name: 'v2', storage: false, schema: spec({ tag }) }]),
      {
        only: ['kind'],
      },
    ),
    get(widgets, { until: { code: 200 }, only: ['kind'] }),
    post(widgets, widget({ size: 3, tag: 'a' }), { only: ['kind'] }),
    get(w2),
    get(v2Widgets, { only: ['items[*].spec'] }),
    watch(v2Widgets, 1),
    patch('merge', w2, { spec: { tag: 'b' } }),
    get(w),
    replaceSchema(0, spec({ tag, colour: { type: 'string', default: 'red' } })),
    get(w, { until: { path: 'spec.colour', is: 'red' } }),
    get(widgets, { only: ['items[*].spec'] }),
    // The real server drops all managedFields when a field is not in every version.
    patch('merge', w, { metadata: { labels: { a: 'b' } } }, { only: ['spec', 'metadata.labels'] }),
    replaceSchema(0, spec({ tag, size })),
    get(w, { until: { path: 'spec.size', is: 1 }, only: ['spec'] }),
    put(w, widget({ tag: 'b' }, { labels: { a: 'b' } })),
    ...remove,
  ),
  scenario(
    'a custom resource in two versions with a conversion webhook',
    ...installed('/convert'),
    post(widgets, widget({ size: 3, tag: 'a' })),
    get(w2),
    get(v2Widgets),
    get(v2Widgets, { accept: tableType, only: ['rows[*].cells'] }),
    get(w2, { accept: metadataType }),
    post(v2Widgets, v2Widget(5, { tag: 'b' }, { name: 'x' })),
    get(`${widgets}/x`),
    post(v2Widgets, v2Widget(5, {}, { name: 'y' }), { query: { dryRun: 'All' } }),
    put(w2, v2Widget(7, { tag: 'c' })),
    put(w2, v2Widget(8, {}, { labels: { a: 'b' } })),
    get(w),
    patch('merge', w2, { spec: { dimensions: { size: 9 } } }),
    patch('json', w2, [{ op: 'replace', path: '/spec/dimensions/size', value: 10 }], {
      only: ['spec', 'metadata.generation'],
    }),
    patch('merge', w2, { spec: { dimensions: { size: 1_000 } } }),
    patch('merge', w2, { spec: { size: 10 } }, { only: ['spec'] }),
    get(w),
    get(v2Widgets, { query: { fieldSelector: 'spec.dimensions.size=10' }, only: ['items[*].spec'] }),
    get(widgets, { query: { fieldSelector: 'spec.tag=b' }, only: ['items[*].spec'] }),
    get(v2Widgets, { query: { limit: '1' }, only: ['items[*].spec', 'metadata'] }),
    del(w2),
    del(v2Widgets, undefined, { only: ['items[*].spec'] }),
    get(widgets, { only: ['items'] }),
    ...remove,
  ),
  scenario(
    'status and scale of a converted resource',
    ...installed('/convert'),
    post(widgets, widget({ size: 3 }), { only: ['kind'] }),
    put(`${w2}/status`, { ...v2Widget(99), status: { phase: 'Ready', replicas: 2 } }),
    get(`${w2}/status`),
    patch('merge', `${w2}/status`, { status: { phase: 'Done' } }),
    get(`${w2}/scale`),
    patch('merge', `${w2}/scale`, { spec: { replicas: 6 } }),
    put(`${w2}/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas: 4 } }),
    get(w),
    get(w2),
    ...remove,
  ),
  scenario(
    'a watch of a converted resource',
    ...installed('/convert'),
    post(widgets, widget({ size: 3, tag: 'a' }), { keep: { version: 'metadata.resourceVersion' }, only: ['kind'] }),
    {
      ...watch(v2Widgets, 6, { timeoutSeconds: '20', resourceVersion: '<version>' }),
      meanwhile: [
        post(widgets, widget({ size: 1 }, { name: 'x' })),
        patch('merge', w, { spec: { size: 4 } }),
        patch('merge', w2, { spec: { dimensions: { size: 5 } } }),
        patch('merge', w, { metadata: { labels: { a: 'b' } } }),
        del(w),
        post(v2Widgets, v2Widget(6)),
      ],
    },
    {
      ...watch(v2Widgets, 4, {
        timeoutSeconds: '20',
        resourceVersion: '<version>',
        fieldSelector: 'spec.dimensions.size=4',
      }),
      meanwhile: [],
    },
    watch(v2Widgets, 2),
    ...remove,
  ),
  scenario(
    'applying a converted resource',
    ...installed('/convert'),
    apply('one', w, widget({ size: 3, tag: 'a' })),
    apply('two', w2, v2Widget(4)),
    apply('two', w2, widget({ tag: 'a' }, {}, 'v2')),
    apply('two', w2, v2Widget(4), { query: { force: 'true' } }),
    get(w),
    apply('one', w2, widget({ tag: 'b' }, {}, 'v2')),
    apply('one', w2, widget({}, {}, 'v2')),
    put(w2, v2Widget(5, { tag: 'z' })),
    get(w),
    patch('merge', w, { spec: { size: 6 } }),
    get(w2),
    ...remove,
  ),
  scenario(
    'the metadata of a converted resource',
    ...installed('/convert-metadata'),
    post(widgets, widget({ size: 3 }, { labels: { a: 'b' } })),
    get(w2),
    put(w2, v2Widget(4)),
    get(w),
    ...remove,
  ),
  scenario(
    'a conversion webhook that adds unknown fields',
    ...installed('/convert-extra'),
    post(v2Widgets, v2Widget(3)),
    get(w),
    get(w2),
    ...remove,
  ),
  scenario(
    'a conversion webhook with invalid responses',
    ...installed('/convert'),
    post(widgets, widget({ size: 3 }), { only: ['kind'] }),
    ...[
      'kind',
      'version',
      'name',
      'namespace',
      'uid',
      'labels',
      'number',
      'list',
      'failed',
      'silent',
      'none',
      'other',
      'empty',
      'untyped',
    ].flatMap((path) => invalidConversion(`/convert-${path}`)),
    ...invalidConversion('/convert-beta').slice(0, 2),
    get(w, { only: ['spec'] }),
    put(w2, v2Widget(4)),
    post(v2Widgets, v2Widget(4, {}, { name: 'x' })),
    patch('merge', w2, { spec: { tag: 'x' } }),
    apply('one', w2, v2Widget(4)),
    get(`${w2}/scale`),
    del(w2),
    del(v2Widgets),
    ...remove,
  ),
  scenario(
    'a change of the storage version',
    ...installed('/convert'),
    post(widgets, widget({ size: 3 }), { only: ['kind'] }),
    patch(
      'json',
      name,
      [
        { op: 'replace', path: '/spec/versions/0/storage', value: false },
        { op: 'replace', path: '/spec/versions/1/storage', value: true },
      ],
      { only: ['kind'] },
    ),
    get(name, { until: { path: 'status.storedVersions[1]', is: 'v2' }, only: ['status.storedVersions'] }),
    get(w),
    get(w2, { until: { code: 200 } }),
    patch('merge', w, { spec: { tag: 'a' } }),
    get(w2),
    patch('json', name, [{ op: 'remove', path: '/spec/versions/0' }]),
    patch('merge', `${name}/status`, { status: { storedVersions: ['v2'] } }, { only: ['status.storedVersions'] }),
    patch('json', name, [{ op: 'remove', path: '/spec/versions/0' }], { only: ['status.storedVersions'] }),
    apply('one', w2, v2Widget(4), { query: { dryRun: 'All' }, until: { code: 500 } }),
    patch('merge', w2, { spec: { tag: 'b' } }),
    get(w2),
    apply('one', w2, v2Widget(4)),
    ...remove,
  ),
  scenario(
    'admission webhooks for another version of the object',
    ...installed('/convert'),
    post(widgets, widget({ size: 3 }), { only: ['kind'] }),
    post(
      plural('Validating'),
      configuration('Validating', 'spec', { rules: [{ ...rule, operations: ['UPDATE', 'DELETE'] }] }),
      { only: ['kind'] },
    ),
    patch('merge', w2, { spec: { dimensions: { size: 4 } } }, { until: { code: 400 } }),
    del(w2),
    patch('merge', `${w2}/scale`, { spec: { replicas: 4 } }, { only: ['spec'] }),
    del(`${plural('Validating')}/<ns>`, undefined, { only: ['kind'] }),
    post(
      plural('Mutating'),
      configuration('Mutating', 'size', {
        rules: [{ ...rule, operations: ['CREATE'] }],
        matchConditions: [{ name: 'small', expression: 'object.spec.size < 10' }],
      }),
      { only: ['kind'] },
    ),
    post(v2Widgets, v2Widget(5, { tag: 'a' }, { name: 'x' }), {
      query: { dryRun: 'All' },
      until: { path: 'spec.dimensions.size', is: 42 },
    }),
    post(v2Widgets, v2Widget(15, {}, { name: 'y' }), { only: ['spec'] }),
    del(`${plural('Mutating')}/<ns>`, undefined, { only: ['kind'] }),
    ...remove,
  ),
  scenario(
    'a conversion webhook that supports only v1beta1 reviews',
    ...installed('/convert', 'v2', ['v1beta1']),
    post(widgets, widget({ size: 3 })),
    get(w2),
    ...remove,
  ),
];

// Conversion webhooks (../conversions.ts): custom resources in two versions, of which one is stored.
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
const seconds = '/apis/<ns>.example.com/v2/namespaces/<ns>/widgets';
const w2 = `${seconds}/w`;
const big = (dimensions: unknown, more: object = {}, metadata: object = {}): object =>
  widget({ dimensions: { size: dimensions }, ...more }, metadata, 'v2');

/** Serves both versions, converted by the given path; the first is stored. */
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
  get(seconds, { until: { code: 200 }, only: ['kind'] }),
];

/** A webhook that does wrong, and what is said of it. */
const wrong = (path: string): Step[] => [
  patch('merge', name, { spec: conversion(path) }, { only: ['kind'] }),
  get(w2, { until: { code: 500 } }),
  patch('merge', name, { spec: conversion('/convert') }, { only: ['kind'] }),
  get(w2, { until: { code: 200 }, only: ['kind'] }),
];

const replaced = (version: number, schema: object): Step =>
  patch(
    'json',
    name,
    [{ op: 'replace', path: `/spec/versions/${version}/schema/openAPIV3Schema/properties`, value: schema }],
    { only: ['kind'] },
  );

export const conversions = [
  scenario(
    'a schema that changes under stored objects',
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
    get(seconds, { only: ['items[*].spec'] }),
    watch(seconds, 1),
    patch('merge', w2, { spec: { tag: 'b' } }),
    get(w),
    replaced(0, spec({ tag, colour: { type: 'string', default: 'red' } })),
    get(w, { until: { path: 'spec.colour', is: 'red' } }),
    get(widgets, { only: ['items[*].spec'] }),
    // The real server forgets all owners when a field is not in every version.
    patch('merge', w, { metadata: { labels: { a: 'b' } } }, { only: ['spec', 'metadata.labels'] }),
    replaced(0, spec({ tag, size })),
    get(w, { until: { path: 'spec.size', is: 1 }, only: ['spec'] }),
    put(w, widget({ tag: 'b' }, { labels: { a: 'b' } })),
    ...remove,
  ),
  scenario(
    'a custom resource in two versions that a webhook converts',
    ...installed('/convert'),
    post(widgets, widget({ size: 3, tag: 'a' })),
    get(w2),
    get(seconds),
    get(seconds, { accept: tableType, only: ['rows[*].cells'] }),
    get(w2, { accept: metadataType }),
    post(seconds, big(5, { tag: 'b' }, { name: 'x' })),
    get(`${widgets}/x`),
    post(seconds, big(5, {}, { name: 'y' }), { query: { dryRun: 'All' } }),
    put(w2, big(7, { tag: 'c' })),
    put(w2, big(8, {}, { labels: { a: 'b' } })),
    get(w),
    patch('merge', w2, { spec: { dimensions: { size: 9 } } }),
    patch('json', w2, [{ op: 'replace', path: '/spec/dimensions/size', value: 10 }], {
      only: ['spec', 'metadata.generation'],
    }),
    patch('merge', w2, { spec: { dimensions: { size: 1_000 } } }),
    patch('merge', w2, { spec: { size: 10 } }, { only: ['spec'] }),
    get(w),
    get(seconds, { query: { fieldSelector: 'spec.dimensions.size=10' }, only: ['items[*].spec'] }),
    get(widgets, { query: { fieldSelector: 'spec.tag=b' }, only: ['items[*].spec'] }),
    get(seconds, { query: { limit: '1' }, only: ['items[*].spec', 'metadata'] }),
    del(w2),
    del(seconds, undefined, { only: ['items[*].spec'] }),
    get(widgets, { only: ['items'] }),
    ...remove,
  ),
  scenario(
    'status and scale of a converted resource',
    ...installed('/convert'),
    post(widgets, widget({ size: 3 }), { only: ['kind'] }),
    put(`${w2}/status`, { ...big(99), status: { phase: 'Ready', replicas: 2 } }),
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
      ...watch(seconds, 6, { timeoutSeconds: '20', resourceVersion: '<version>' }),
      meanwhile: [
        post(widgets, widget({ size: 1 }, { name: 'x' })),
        patch('merge', w, { spec: { size: 4 } }),
        patch('merge', w2, { spec: { dimensions: { size: 5 } } }),
        patch('merge', w, { metadata: { labels: { a: 'b' } } }),
        del(w),
        post(seconds, big(6)),
      ],
    },
    {
      ...watch(seconds, 4, {
        timeoutSeconds: '20',
        resourceVersion: '<version>',
        fieldSelector: 'spec.dimensions.size=4',
      }),
      meanwhile: [],
    },
    watch(seconds, 2),
    ...remove,
  ),
  scenario(
    'applying a converted resource',
    ...installed('/convert'),
    apply('one', w, widget({ size: 3, tag: 'a' })),
    apply('two', w2, big(4)),
    apply('two', w2, widget({ tag: 'a' }, {}, 'v2')),
    apply('two', w2, big(4), { query: { force: 'true' } }),
    get(w),
    apply('one', w2, widget({ tag: 'b' }, {}, 'v2')),
    apply('one', w2, widget({}, {}, 'v2')),
    put(w2, big(5, { tag: 'z' })),
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
    put(w2, big(4)),
    get(w),
    ...remove,
  ),
  scenario(
    'a webhook that converts into what the version does not have',
    ...installed('/convert-extra'),
    post(seconds, big(3)),
    get(w),
    get(w2),
    ...remove,
  ),
  scenario(
    'a webhook that converts wrongly',
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
    ].flatMap((path) => wrong(`/convert-${path}`)),
    ...wrong('/convert-beta').slice(0, 2),
    get(w, { only: ['spec'] }),
    put(w2, big(4)),
    post(seconds, big(4, {}, { name: 'x' })),
    patch('merge', w2, { spec: { tag: 'x' } }),
    apply('one', w2, big(4)),
    get(`${w2}/scale`),
    del(w2),
    del(seconds),
    ...remove,
  ),
  scenario(
    'a storage version that changes',
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
    apply('one', w2, big(4), { query: { dryRun: 'All' }, until: { code: 500 } }),
    patch('merge', w2, { spec: { tag: 'b' } }),
    get(w2),
    apply('one', w2, big(4)),
    ...remove,
  ),
  scenario(
    'admission webhooks for another version than the one that is written',
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
    post(seconds, big(5, { tag: 'a' }, { name: 'x' }), {
      query: { dryRun: 'All' },
      until: { path: 'spec.dimensions.size', is: 42 },
    }),
    post(seconds, big(15, {}, { name: 'y' }), { only: ['spec'] }),
    del(`${plural('Mutating')}/<ns>`, undefined, { only: ['kind'] }),
    ...remove,
  ),
  scenario(
    'a webhook that knows reviews of version v1beta1 only',
    ...installed('/convert', 'v2', ['v1beta1']),
    post(widgets, widget({ size: 3 })),
    get(w2),
    ...remove,
  ),
];

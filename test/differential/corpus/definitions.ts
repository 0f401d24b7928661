// Custom resource definitions: validation, printer columns, changes and deletion.
import { del, get, untilDeleted, patch, post, put, scenario, tableType, watch } from '../scenario.ts';
import type { Step } from '../scenario.ts';
import { definition, definitions, install, name, remove, spec, w, widget, widgets } from './widgets.ts';

const conversionBy = (clientConfig: object, conversionReviewVersions = ['v1']): object => ({
  webhook: { clientConfig, conversionReviewVersions },
});

/** A dry run of a definition with a CEL rule. */
const tryRule = (rule: object): Step =>
  post(
    definitions,
    definition([
      {
        schema: spec(
          {
            size: { type: 'integer' },
            ratio: { type: 'number' },
            name: { type: 'string', maxLength: 10 },
            on: { type: 'boolean' },
            port: { 'x-kubernetes-int-or-string': true },
            tags: { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 10 } },
            labels: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 10 } },
            inner: { type: 'object', properties: { name: { type: 'string' } } },
            parts: {
              type: 'array',
              maxItems: 3,
              items: { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } },
            },
          },
          { 'x-kubernetes-validations': [rule] },
        ),
      },
    ]),
    { query: { dryRun: 'All' }, only: ['kind', 'reason', 'message'] },
  );

export const customDefinitions = [
  scenario(
    'a definition is accepted and served',
    post(
      definitions,
      definition([{ schema: spec({ size: { type: 'integer' } }) }], {
        names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
      }),
    ),
    get(name, { until: { path: 'status.conditions[type=Established].status', is: 'True' } }),
    get('/apis/<ns>.example.com', { until: { code: 200 } }),
    get('/apis/<ns>.example.com/v1', { until: { code: 200 } }),
    get(widgets, { until: { code: 200 } }),
    post(widgets, widget({ size: 3 })),
    get(w),
    post(widgets, widget({ size: 3 })),
    put(w, widget({ size: 4 })),
    get(w, { keep: { version: 'metadata.resourceVersion' }, only: ['kind'] }),
    put(w, widget({ size: 4 }, { resourceVersion: '<version>' })),
    put(w, widget({ size: 5 }, { resourceVersion: '<version>' })),
    put(w, widget({ size: 5 }, { resourceVersion: '<version>' })),
    get(widgets),
    get(`${widgets}/missing`),
    del(w),
    ...remove,
    get(widgets, { until: { code: 404 } }),
  ),
  scenario(
    'invalid definitions',
    post(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'x' },
    }),
    post(definitions, { ...definition([{}]), metadata: { name: 'wrong.example.com' } }),
    post(definitions, definition([])),
    post(definitions, definition([{}, { name: 'v2' }])),
    post(definitions, definition([{ storage: false }])),
    post(definitions, definition([{ name: 'V_1' }])),
    post(definitions, definition([{}, { storage: false }])),
    post(definitions, definition([{}], { scope: 'Everywhere' })),
    post(definitions, definition([{}], { names: { plural: 'widgets', kind: '' } })),
    post(definitions, definition([{}], { names: { plural: 'widgets', kind: 'Widget', shortNames: ['Bad Name'] } })),
    post(definitions, definition([{ more: { schema: undefined } }])),
    post(definitions, definition([{ schema: { spec: {} } }])),
    post(definitions, definition([{ schema: { spec: { type: 'odd' } } }])),
    post(definitions, definition([{ schema: { spec: { type: 'array' } } }])),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'object', properties: {}, additionalProperties: { type: 'string' } } } }]),
    ),
    post(definitions, definition([{ schema: { spec: { type: 'string', pattern: '(' } } }])),
    post(definitions, definition([{ schema: { spec: { type: 'integer', default: 'x' } } }])),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'string', enum: [], nullable: true, uniqueItems: true } } }]),
      { only: ['code', 'reason'] },
    ),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false } } }]),
    ),
    post(
      definitions,
      definition([
        {
          schema: {
            spec: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'string' } } },
              'x-kubernetes-list-type': 'map',
            },
          },
        },
      ]),
    ),
    post(
      definitions,
      definition([
        {
          schema: {
            spec: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'string' } } },
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['a'],
            },
          },
        },
      ]),
    ),
    post(
      definitions,
      definition([
        {
          schema: {
            spec: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'object' } } },
              'x-kubernetes-list-type': 'set',
            },
          },
        },
      ]),
    ),
    post(definitions, definition([{ schema: { spec: { type: 'string', 'x-kubernetes-int-or-string': true } } }])),
    post(
      definitions,
      definition([{ schema: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } }]),
    ),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >' }] } } }]),
    ),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self + 1' }] } } }]),
    ),
    post(
      definitions,
      definition([
        { schema: { spec: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self.missing > 1' }] } } },
      ]),
    ),
    post(
      definitions,
      definition([{ schema: { spec: { type: 'integer', 'x-kubernetes-validations': [{ rule: '' }] } } }]),
    ),
    post(
      definitions,
      definition([
        {
          more: {
            subresources: { scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: '.status.replicas' } },
          },
        },
      ]),
    ),
    post(
      definitions,
      definition([{ more: { additionalPrinterColumns: [{ name: 'x', type: 'odd', jsonPath: '.spec' }] } }]),
    ),
    post(
      definitions,
      definition([{ more: { additionalPrinterColumns: [{ name: 'x', type: 'string', jsonPath: 'spec' }] } }]),
      { only: ['code', 'reason', 'details.causes[0].field'] },
    ),
    post(definitions, definition([{}], { preserveUnknownFields: true })),
    post(definitions, definition([{}], { conversion: { strategy: 'Webhook' } })),
  ),
  scenario(
    'CEL rules that do not match their schema',
    ...[
      'self.size > 1.5 && self.ratio > 1 && self.parts.all(p, p.name.size() > 0)',
      'self.inner == null || self.labels.all(k, self.labels[k] == "x")',
      'self.port == 8080 || self.port == "http"',
      '"%s %d".format([self.name, self.size]) == "a 1"',
      'has(self.parts[0].name)',
      'semver(self.name).isLessThan(semver("1.0.0")) && duration("1s") < duration("2s")',
      'self.ratio == 1',
      '1 in self.tags',
      'self.name + 1 == 2',
      'self.inner.missing == 1',
      'has(self.missing)',
      'self.name.startsWith(1)',
      '!self.name',
      'size(1) == 1',
      'self.on && self.name',
      'self.tags["a"] == "b"',
      'self.name == null',
      'self.parts.exists(p, p.name == 1)',
      'self.name.matches("[")',
      'unknown(self)',
      'self.name.unknown()',
      'foo == 1',
      '(self.size > 1',
      'self.size',
      '[1, "a"].size() == 2',
      'oldSelf.size <= self.size',
    ].map((rule) => tryRule({ rule })),
    tryRule({ rule: 'oldSelf.hasValue() ? oldSelf.value().size == self.size : true', optionalOldSelf: true }),
    tryRule({ rule: 'true', messageExpression: '"a" + self.name' }),
    tryRule({ rule: 'true', messageExpression: '1 + 1' }),
    tryRule({ rule: 'true', messageExpression: 'self.missing' }),
    tryRule({ rule: 'true', fieldPath: '.name' }),
    tryRule({ rule: 'true', fieldPath: '.missing' }),
    tryRule({ rule: 'true', reason: 'Odd' }),
    tryRule({ rule: 'true', message: 'a\nb' }),
    tryRule({ rule: 'true ||\nfalse' }),
  ),
  scenario(
    'several versions of one object',
    post(
      definitions,
      definition([
        { name: 'v1', schema: spec({ size: { type: 'integer' } }) },
        {
          name: 'v1beta1',
          storage: false,
          schema: spec({ size: { type: 'integer' }, old: { type: 'string', default: 'yes' } }),
          more: { deprecated: true },
        },
        { name: 'v2', storage: false, schema: spec({ size: { type: 'integer' } }) },
        { name: 'v1alpha1', storage: false, served: false },
      ]),
      { only: ['kind'] },
    ),
    get(name, {
      until: { path: 'status.conditions[type=Established].status', is: 'True' },
      only: ['status.storedVersions', 'status.acceptedNames'],
    }),
    get(widgets, { until: { code: 200 }, only: ['kind'] }),
    get('/apis/<ns>.example.com', { until: { path: 'versions[2].version' } }),
    get('/apis/<ns>.example.com/v1beta1'),
    post(widgets, widget({ size: 1 })),
    get('/apis/<ns>.example.com/v1beta1/namespaces/<ns>/widgets/w'),
    get('/apis/<ns>.example.com/v2/namespaces/<ns>/widgets'),
    get('/apis/<ns>.example.com/v1alpha1/namespaces/<ns>/widgets/w'),
    post('/apis/<ns>.example.com/v1beta1/namespaces/<ns>/widgets', widget({ size: 2 }, { name: 'x' }, 'v1beta1')),
    get(`${widgets}/x`),
    patch('merge', '/apis/<ns>.example.com/v1beta1/namespaces/<ns>/widgets/x', { spec: { old: 'no' } }),
    ...remove,
  ),
  scenario(
    'printer columns',
    ...install(
      {
        ...spec({
          size: { type: 'integer' },
          tags: { type: 'array', items: { type: 'string' } },
          on: { type: 'boolean' },
          at: { type: 'string', format: 'date-time' },
        }),
      },
      {
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How big' },
          { name: 'Tags', type: 'string', jsonPath: '.spec.tags[*]' },
          { name: 'First', type: 'string', jsonPath: '.spec.tags[0]' },
          { name: 'On', type: 'boolean', jsonPath: '.spec.on', priority: 1 },
          { name: 'At', type: 'date', jsonPath: '.spec.at' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ),
    post(widgets, widget({ size: 3, tags: ['a', 'b'], on: true, at: '2001-01-01T00:00:00Z' }), { only: ['kind'] }),
    post(widgets, widget({}, { name: 'x' }), { only: ['kind'] }),
    get(w, {
      accept: tableType,
      only: [
        'columnDefinitions',
        'rows[0].cells[0]',
        'rows[0].cells[1]',
        'rows[0].cells[2]',
        'rows[0].cells[3]',
        'rows[0].cells[4]',
      ],
    }),
    get(widgets, { accept: tableType, only: ['kind', 'rows[1]'] }),
    ...remove,
  ),
  scenario(
    'tables without additional printer columns',
    ...install(spec({})),
    post(widgets, widget({}), { accept: tableType }),
    get(widgets, { accept: tableType, query: { includeObject: 'None' } }),
    ...remove,
  ),
  scenario(
    'name conflicts between definitions',
    ...install({}, {}, { names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] } }),
    post(
      definitions,
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'gadgets.<ns>.example.com' },
        spec: {
          group: '<ns>.example.com',
          scope: 'Namespaced',
          names: { plural: 'gadgets', kind: 'Widget', shortNames: ['wd'] },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
      { only: ['kind'] },
    ),
    get(`${definitions}/gadgets.<ns>.example.com`, {
      until: { path: 'status.conditions[type=NamesAccepted].status', is: 'False' },
      only: ['status'],
    }),
    get('/apis/<ns>.example.com/v1/namespaces/<ns>/gadgets'),
    del(`${definitions}/gadgets.<ns>.example.com`, undefined, { only: ['kind'] }),
    ...remove,
  ),
  scenario(
    'changes of definitions',
    ...install(spec({ size: { type: 'integer' } })),
    post(widgets, widget({ size: 1, color: 'red' })),
    patch('merge', name, { spec: { scope: 'Cluster' } }),
    patch('merge', name, { spec: { names: { plural: 'others' } } }, { only: ['code', 'reason', 'details.causes'] }),
    patch('merge', name, { spec: { group: 'other.example.com' } }, { only: ['code', 'reason'] }),
    patch(
      'json',
      name,
      [
        {
          op: 'add',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color',
          value: { type: 'string' },
        },
      ],
      { only: ['metadata.generation'] },
    ),
    patch('merge', w, { spec: { color: 'blue' } }, { until: { path: 'spec.color', is: 'blue' }, only: ['spec'] }),
    ...remove,
  ),
  scenario(
    'deleting a definition deletes its objects',
    ...install(spec({})),
    get(widgets, { keep: { start: 'metadata.resourceVersion' }, only: ['kind'] }),
    post(widgets, widget({}, { finalizers: ['example.com/hold'] }), { only: ['kind'] }),
    del(name, undefined, { only: ['metadata.finalizers', 'kind', 'status.conditions[type=Terminating]'] }),
    get(w, {
      until: { path: 'metadata.deletionTimestamp' },
      only: ['metadata.finalizers', 'metadata.deletionGracePeriodSeconds'],
    }),
    get(name, {
      until: { path: 'status.conditions[type=Terminating].reason', is: 'InstanceDeletionInProgress' },
      only: ['status.conditions[type=Terminating]', 'metadata.finalizers'],
    }),
    post(widgets, widget({}, { name: 'late' })),
    patch('merge', w, { metadata: { finalizers: null } }, { only: ['kind'] }),
    untilDeleted(name),
  ),
  scenario(
    'invalid conversions',
    ...[
      { strategy: 'Odd' },
      { strategy: 'None', ...conversionBy({ url: 'https://x.example.com' }) },
      { strategy: 'Webhook', ...conversionBy({ url: 'http://x.example.com' }) },
      { strategy: 'Webhook', ...conversionBy({}) },
      { strategy: 'Webhook', ...conversionBy({ service: { name: 'a' } }, ['v1', 'v1']) },
      { strategy: 'Webhook', ...conversionBy({ url: 'https://x.example.com' }, ['v0']) },
    ].map((conversion) => post(definitions, definition([{}], { conversion }))),
  ),
  scenario(
    'a conversion webhook that fails',
    post(
      definitions,
      definition([{}, { name: 'v2', storage: false }], {
        conversion: { strategy: 'Webhook', ...conversionBy({ url: '<hook>/fire', caBundle: '<hookCa>' }) },
      }),
      { only: ['kind'] },
    ),
    get(widgets, { until: { code: 200 }, only: ['kind'] }),
    post(widgets, widget(undefined)),
    get(w),
    get('/apis/<ns>.example.com/v2/namespaces/<ns>/widgets/w'),
    get('/apis/<ns>.example.com/v2/namespaces/<ns>/widgets'),
    post('/apis/<ns>.example.com/v2/namespaces/<ns>/widgets', widget(undefined, { name: 'x' }, 'v2')),
    del('/apis/<ns>.example.com/v2/namespaces/<ns>/widgets/w'),
    get('/apis/<ns>.example.com', { only: ['preferredVersion', 'versions'] }),
    ...remove,
  ),
  scenario(
    'watches end when their definition is deleted',
    ...install(spec({})),
    post(widgets, widget({}), { only: ['kind'] }),
    { ...watch(widgets, 9, { timeoutSeconds: '60' }), meanwhile: [del(name), untilDeleted(name)] },
    get(name),
  ),
  scenario(
    'watches end when their definition changes',
    ...install(spec({})),
    post(widgets, widget({}), { only: ['kind'] }),
    {
      ...watch(widgets, 9, { timeoutSeconds: '60' }),
      meanwhile: [patch('merge', name, { spec: { names: { shortNames: ['wd'] } } })],
    },
    ...remove,
  ),
];

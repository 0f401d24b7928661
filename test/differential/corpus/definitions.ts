// Custom resource definitions: what they refuse, and how objects of them behave.
import { apply, del, get, gone, patch, post, put, scenario, tableType, watch } from '../scenario.ts';
import type { Step } from '../scenario.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Version {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: object;
  readonly more?: object;
}

/** The definition `PLURAL.NAMESPACE.example.com`: every scenario has a group of its own. */
function definition(versions: readonly Version[], spec: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.<ns>.example.com' },
    spec: {
      group: '<ns>.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: versions.map(({ name = 'v1', served = true, storage = true, schema = {}, more = {} }) => ({
        name,
        served,
        storage,
        schema: { openAPIV3Schema: { type: 'object', properties: schema } },
        ...more,
      })),
      ...spec,
    },
  };
}

const name = `${definitions}/widgets.<ns>.example.com`;
const widgets = '/apis/<ns>.example.com/v1/namespaces/<ns>/widgets';
const widget = (spec?: unknown, metadata: object = {}, version = 'v1'): object => ({
  apiVersion: `<ns>.example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'w', ...metadata },
  ...(spec === undefined ? {} : { spec }),
});
const w = `${widgets}/w`;

/** Installs a definition and waits until it is served. */
function install(schema: object, more: object = {}, spec: object = {}): Step[] {
  return [
    post(definitions, definition([{ schema, more }], spec), { only: ['kind'] }),
    get(name, { until: { path: 'status.conditions[type=Established].status', is: 'True' }, only: ['kind'] }),
    get(widgets, { until: { code: 200 } }),
  ];
}

const remove = [del(name, undefined, { only: ['kind'] }), gone(name)];
const spec = (properties: object, more: object = {}): object => ({ spec: { type: 'object', properties, ...more } });

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
    'definitions that are refused',
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
    'objects against their schema',
    ...install(
      spec(
        {
          name: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
          size: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2 },
          ratio: { type: 'number', exclusiveMinimum: true, minimum: 0 },
          color: { type: 'string', enum: ['red', 'green'] },
          list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
          set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          map: {
            type: 'array',
            items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'integer' } } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
          },
          labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
          either: { 'x-kubernetes-int-or-string': true },
          when: { type: 'string', format: 'date-time' },
          nothing: { type: 'string', nullable: true },
          choice: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: 'string' } },
            oneOf: [{ required: ['a'] }, { required: ['b'] }],
          },
        },
        { required: ['name'] },
      ),
    ),
    ...[
      {},
      { name: 'a' },
      { name: 'abcdef' },
      { name: 'A1' },
      { name: 5 },
      { name: null },
      { name: 'ab', size: 0 },
      { name: 'ab', size: 11 },
      { name: 'ab', size: 3 },
      { name: 'ab', size: 1.5 },
      { name: 'ab', size: 'x' },
      { name: 'ab', ratio: 0 },
      { name: 'ab', color: 'blue' },
      { name: 'ab', list: [] },
      { name: 'ab', list: ['a', 'b', 'c'] },
      { name: 'ab', list: [1] },
      { name: 'ab', list: 'x' },
      { name: 'ab', set: ['a', 'a'] },
      { name: 'ab', map: [{ k: 'a' }, { k: 'a' }] },
      { name: 'ab', map: [{ v: 1 }] },
      { name: 'ab', labels: { a: 'b', c: 'd' } },
      { name: 'ab', labels: { a: 1 } },
      { name: 'ab', either: true },
      { name: 'ab', when: 'now' },
      { name: 'ab', choice: {} },
      { name: 'ab', choice: { a: 'x', b: 'y' } },
      { name: 'x', size: 20, color: 'pink' },
      'text',
      [],
    ].map((value) => post(widgets, widget(value))),
    post(
      widgets,
      widget({ name: 'ab', nothing: null, either: '5', ratio: 0.5, when: '2024-01-01T00:00:00Z', choice: { a: 'x' } }),
    ),
    post(widgets, { apiVersion: '<ns>.example.com/v1', kind: 'Gadget', metadata: { name: 'w' } }),
    post(widgets, { apiVersion: '<ns>.example.com/v2', kind: 'Widget', metadata: { name: 'w' } }),
    post(widgets, widget({ name: 'ab' }, { name: 'Bad Name' })),
    ...remove,
  ),
  scenario(
    'unknown fields are pruned, defaults filled in',
    ...install(
      spec(
        {
          size: { type: 'integer', default: 3 },
          mode: { type: 'string', default: 'slow' },
          nested: { type: 'object', default: {}, properties: { on: { type: 'boolean', default: true } } },
          list: {
            type: 'array',
            items: {
              type: 'object',
              properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
            },
          },
          free: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
          },
          embedded: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
          optional: { type: 'string', nullable: true, default: 'x' },
        },
        { default: {} },
      ),
    ),
    post(widgets, widget()),
    post(
      widgets,
      widget(
        { size: 5, unknown: 1, list: [{ port: 80, odd: true }], free: { anything: [1, 2], known: { a: 'x', b: 'y' } } },
        { name: 'x' },
      ),
    ),
    post(widgets, widget({ unknown: 1, nested: { off: true } }, { name: 'y' }), {
      query: { fieldValidation: 'Strict' },
    }),
    post(widgets, widget({ unknown: 1, nested: { off: true } }, { name: 'y' }), { query: { fieldValidation: 'Warn' } }),
    post(widgets, widget({ unknown: 1 }, { name: 'z' }), { query: { fieldValidation: 'Ignore' } }),
    post(widgets, widget({ mode: null, optional: null }, { name: 'n' })),
    post(
      widgets,
      widget(
        { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', odd: 1 }, spec: { a: 1 } } },
        { name: 'e' },
      ),
    ),
    post(widgets, widget({ embedded: { kind: 'Pod' } }, { name: 'f' })),
    patch('merge', w, { spec: { size: null } }),
    patch('merge', w, { spec: { extra: true } }),
    patch('merge', w, { spec: { extra: true } }, { query: { fieldValidation: 'Strict' } }),
    patch('strategic', w, { spec: { size: 1 } }),
    patch('json', w, [{ op: 'add', path: '/spec/size', value: 9 }]),
    apply('one', w, widget({ size: 10 }), { query: { force: 'true' } }),
    ...remove,
  ),
  scenario(
    'CEL rules',
    ...install({
      spec: {
        type: 'object',
        properties: {
          min: { type: 'integer' },
          max: { type: 'integer' },
          name: {
            type: 'string',
            maxLength: 20,
            'x-kubernetes-validations': [
              { rule: 'self == oldSelf', message: 'name stays' },
              {
                rule: 'self.startsWith("w")',
                messageExpression: '"want w, got " + self',
                reason: 'FieldValueForbidden',
              },
            ],
          },
          items: {
            type: 'array',
            maxItems: 5,
            items: { type: 'string', maxLength: 10 },
            'x-kubernetes-validations': [{ rule: 'self.all(x, x.size() < 4)', message: 'short ones only' }],
          },
          quantity: {
            type: 'string',
            maxLength: 10,
            'x-kubernetes-validations': [{ rule: 'quantity(self).isGreaterThan(quantity("1Gi"))' }],
          },
        },
        'x-kubernetes-validations': [
          {
            rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
            message: 'min must not exceed max',
            fieldPath: '.max',
          },
        ],
      },
    }),
    post(widgets, widget({ min: 5, max: 1 })),
    post(widgets, widget({ name: 'x' })),
    post(widgets, widget({ items: ['abcd'] })),
    post(widgets, widget({ quantity: '1Mi' })),
    post(widgets, widget({ quantity: 'x' })),
    post(widgets, widget({ min: 5, max: 1, items: ['abcd'] })),
    post(widgets, widget({ min: 1, max: 5, name: 'wide' })),
    patch('merge', w, { spec: { name: 'wild' } }),
    patch('merge', w, { spec: { name: null } }, { only: ['kind'] }),
    patch('merge', w, { spec: { name: 'wild' } }, { only: ['kind', 'spec'] }),
    ...remove,
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
    'status and scale of custom resources',
    ...install(
      {
        ...spec({ replicas: { type: 'integer' } }),
        status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
      },
      {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ),
    get('/apis/<ns>.example.com/v1'),
    post(widgets, { ...widget({ replicas: 1 }), status: { replicas: 9 } }),
    put(`${w}/status`, {
      ...widget({ replicas: 7 }, { labels: { x: 'y' } }),
      status: { replicas: 2, selector: 'a=b' },
    }),
    get(w, { keep: { version: 'metadata.resourceVersion' }, only: ['kind'] }),
    put(`${w}/status`, {
      ...widget({ replicas: 7 }, { labels: { x: 'y' }, resourceVersion: '<version>' }),
      status: { replicas: 2, selector: 'a=b' },
    }),
    patch('merge', `${w}/status`, { status: { replicas: 3 }, spec: { replicas: 8 } }),
    get(`${w}/scale`),
    patch('merge', `${w}/scale`, { spec: { replicas: 5 } }),
    put(`${w}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w', namespace: '<ns>' },
      spec: { replicas: 6 },
    }),
    patch('merge', `${w}/scale`, { spec: { replicas: -1 } }),
    patch('merge', w, { spec: { replicas: 2 }, status: { replicas: 1 } }),
    patch('merge', w, { metadata: { labels: { z: '1' } } }),
    get(`${w}/status`),
    patch('merge', `${w}/status`, { status: { replicas: 'x' } }),
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
    'a table without columns of its own',
    ...install(spec({})),
    post(widgets, widget({}), { accept: tableType }),
    get(widgets, { accept: tableType, query: { includeObject: 'None' } }),
    ...remove,
  ),
  scenario(
    'names that another definition has',
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
    'definitions change',
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
    'a definition goes with its objects',
    ...install(spec({})),
    get(widgets, { keep: { start: 'metadata.resourceVersion' }, only: ['kind'] }),
    post(widgets, widget({}, { finalizers: ['example.com/hold'] }), { only: ['kind'] }),
    del(name, undefined, { only: ['metadata.finalizers', 'kind'] }),
    get(w, {
      until: { path: 'metadata.deletionTimestamp' },
      only: ['metadata.finalizers', 'metadata.deletionGracePeriodSeconds'],
    }),
    get(name, {
      until: { path: 'status.conditions[type=Terminating].status', is: 'True' },
      only: ['status.conditions[type=Terminating].status', 'metadata.finalizers'],
    }),
    post(widgets, widget({}, { name: 'late' })),
    patch('merge', w, { metadata: { finalizers: null } }, { only: ['kind'] }),
    gone(name),
    get(w, { until: { code: 404 } }),
  ),
  scenario(
    'watches, pages and selectors of custom resources',
    ...install(spec({ size: { type: 'integer' } }), { selectableFields: [{ jsonPath: '.spec.size' }] }),
    get(widgets, { keep: { start: 'metadata.resourceVersion' }, only: ['kind'] }),
    post(widgets, widget({ size: 1 }, { name: 'a', labels: { l: '1' } }), { only: ['kind'] }),
    post(widgets, widget({ size: 2 }, { name: 'b' }), { only: ['kind'] }),
    get(widgets, { query: { fieldSelector: 'spec.size=2' }, only: ['items[*].metadata.name', 'message'] }),
    get(widgets, { query: { fieldSelector: 'spec.other=2' } }),
    get(widgets, { query: { labelSelector: 'l=1' }, only: ['items[*].metadata.name'] }),
    get(widgets, { query: { limit: '1' }, only: ['metadata', 'items[*].metadata.name'] }),
    watch(widgets, 2, { resourceVersion: '<start>' }),
    del(widgets),
    ...remove,
  ),
  scenario(
    'server-side apply on custom resources',
    ...install(
      spec({
        size: { type: 'integer' },
        map: {
          type: 'array',
          items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'string' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        atomic: { type: 'array', items: { type: 'string' } },
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
      }),
    ),
    apply('one', w, widget({ size: 1, map: [{ k: 'a', v: '1' }], set: ['x'], atomic: ['p'], whole: { a: 'b' } })),
    apply('two', w, widget({ map: [{ k: 'b', v: '2' }], set: ['y', 'x'] })),
    apply('two', w, widget({ map: [{ k: 'a', v: '2' }], atomic: ['q'], whole: { c: 'd' } })),
    apply('two', w, widget({})),
    apply('one', w, widget({ size: 2, set: [] })),
    patch('merge', w, { spec: { size: 7 } }, { query: { fieldManager: 'three' } }),
    apply('one', w, widget({ size: 8 })),
    ...remove,
  ),
  scenario(
    'big integers in custom resources',
    ...install(spec({ n: { type: 'integer', format: 'int64' }, x: { type: 'number' } })),
    post(
      widgets,
      '{"apiVersion":"<ns>.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"n":9007199254740993,"x":1.5}}',
    ),
    get(w),
    patch('merge', w, '{"spec":{"n":-9223372036854775808}}', { only: ['spec'] }),
    patch('merge', w, '{"spec":{"n":9223372036854775808}}', { only: ['spec', 'message'] }),
    patch('merge', w, '{"spec":{"x":10}}', { only: ['spec'] }),
    ...remove,
  ),
];

// Admission webhooks (webhook.ts): what they receive, what their responses do, and for which requests they are called.
import { configMap, core, del, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import type { Step } from '../scenario.ts';
import { deployment } from './workload-bodies.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = core('configmaps');
const a = core('configmaps', 'a');

type Kind = 'Validating' | 'Mutating';

export const plural = (kind: Kind): string => `${group}/${kind.toLowerCase()}webhookconfigurations`;

/** A configuration with one webhook, for ConfigMaps in the scenario's namespace. */
export function configuration(kind: Kind, path: string, more: object = {}): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: '<ns>' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `<hook>/${path}`, caBundle: '<hookCa>' },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...more,
      },
    ],
  };
}

/** Repeats a dry run until the new webhook configuration is in effect. */
const dryRunUntil = (until: Step['until']): Step =>
  post(maps, configMap('probe', { k: 'bad' }), { query: { dryRun: 'All' }, until: until! });

/** Installs a webhook, waits until it is in effect, and removes it. */
const withWebhook = (kind: Kind, path: string, until: Step['until'], more: object = {}): Step[] => [
  post(plural(kind), configuration(kind, path, more), { only: ['kind'] }),
  dryRunUntil(until),
  del(`${plural(kind)}/<ns>`, undefined, { only: ['kind'] }),
  // Waits until it is no longer called, before the next one is installed.
  dryRunUntil({ code: 201 }),
];

const conditions = (...expressions: readonly string[]): object => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
});

export const webhooks = [
  scenario(
    'webhooks that refuse requests',
    ...withWebhook('Validating', 'deny', { code: 400 }),
    ...withWebhook('Validating', 'reason', { code: 400 }),
    ...withWebhook('Validating', 'code', { code: 418 }),
    ...withWebhook('Validating', 'success', { code: 400 }),
    ...withWebhook('Validating', 'details', { code: 422 }),
    ...withWebhook('Mutating', 'details', { code: 422 }),
  ),
  scenario(
    'webhooks that allow and warn',
    post(plural('Validating'), configuration('Validating', 'warn'), { only: ['kind'] }),
    dryRunUntil({ warned: true }),
    post(maps, configMap('warned', {}), { only: ['kind'] }),
    del(`${plural('Validating')}/<ns>`, undefined, { only: ['kind'] }),
  ),
  scenario(
    'a webhook whose caBundle is its own certificate',
    ...withWebhook(
      'Validating',
      'deny',
      { code: 400 },
      { clientConfig: { url: '<hook>/deny', caBundle: '<hookCert>' } },
    ),
  ),
  scenario(
    'mutating webhooks',
    post(plural('Mutating'), configuration('Mutating', 'label'), { only: ['kind'] }),
    dryRunUntil({ path: 'metadata.labels.hooked' }),
    post(maps, configMap('a', { k: 'v' })),
    patch('merge', a, { data: { k: 'w' }, metadata: { labels: { hooked: 'no' } } }),
    del(a),
    del(`${plural('Mutating')}/<ns>`, undefined, { only: ['kind'] }),
  ),
  scenario(
    'webhooks with invalid responses',
    ...withWebhook('Mutating', 'break', { code: 500 }),
    ...withWebhook('Mutating', 'missing', { code: 500 }),
    ...withWebhook('Mutating', 'untyped', { code: 500 }),
    ...withWebhook('Mutating', 'garbage', { code: 500 }),
    ...withWebhook('Mutating', 'fire', { code: 500 }),
  ),
  scenario(
    'the request that a webhook gets',
    post(plural('Validating'), configuration('Validating', 'echo'), { only: ['kind'] }),
    dryRunUntil({ code: 400 }),
    post(maps, configMap('b', {}), { query: { fieldManager: 'someone', fieldValidation: 'Strict' } }),
    post(maps, { ...configMap('', {}), metadata: { generateName: 'g-' } }, { only: ['code', 'reason'] }),
    patch('merge', `${core('configmaps')}/kube-root-ca.crt`, { data: { x: 'y' } }),
    put(`${core('configmaps')}/kube-root-ca.crt`, configMap('kube-root-ca.crt', {})),
    del(`${core('configmaps')}/kube-root-ca.crt`),
    del(`${core('configmaps')}/kube-root-ca.crt`, { propagationPolicy: 'Orphan', gracePeriodSeconds: 7 }),
    post(maps, configMap('b', {}), { as: 'jane', groups: ['system:masters', 'devs'] }),
    del(`${plural('Validating')}/<ns>`, undefined, { only: ['kind'] }),
  ),
  scenario(
    'webhooks for subresources',
    post(
      plural('Validating'),
      configuration('Validating', 'echo', {
        rules: [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['*'], resources: ['*/scale', '*/status'] }],
      }),
      { only: ['kind'] },
    ),
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0, paused: true }), { only: ['kind'] }),
    patch(
      'merge',
      inGroup('apps/v1', 'deployments', 'd', 'scale'),
      { spec: { replicas: 0 } },
      { until: { code: 400 } },
    ),
    patch('merge', inGroup('apps/v1', 'deployments', 'd', 'status'), { status: { replicas: 0 } }),
    patch('merge', inGroup('apps/v1', 'deployments', 'd'), { spec: { revisionHistoryLimit: 3 } }, { only: ['kind'] }),
    del(`${plural('Validating')}/<ns>`, undefined, { only: ['kind'] }),
  ),
  scenario(
    'match conditions of webhooks',
    post(
      plural('Validating'),
      configuration(
        'Validating',
        'code',
        conditions(
          'request.operation == "CREATE"',
          'has(object.data) && object.data.k.startsWith("b")',
          '!("system:nobody" in request.userInfo.groups)',
          'oldObject == null',
        ),
      ),
      { only: ['kind', 'webhooks[0].matchConditions', 'webhooks[0].matchPolicy'] },
    ),
    dryRunUntil({ code: 418 }),
    post(maps, configMap('a', { k: 'good' }), { only: ['data'] }),
    post(maps, configMap('b', { other: 'good' })),
    post(maps, configMap('c', undefined)),
    patch('merge', a, { data: { k: 'bad' } }, { only: ['data'] }),
    post(maps, configMap('c', { k: 'bad' }), {
      as: 'jane',
      groups: ['system:masters', 'system:nobody'],
      only: ['data'],
    }),
    patch('json', `${plural('Validating')}/<ns>`, [{ op: 'add', path: '/webhooks/0/failurePolicy', value: 'Ignore' }], {
      only: ['kind'],
    }),
    post(maps, configMap('d', { other: 'good' }), { until: { code: 201 }, only: ['data'] }),
    post(maps, configMap('d', { k: 'bad' })),
    del(`${plural('Validating')}/<ns>`, undefined, { only: ['kind'] }),
  ),
  scenario(
    'invalid webhook configurations',
    post(plural('Validating'), configuration('Validating', 'code', conditions('request.operation =='))),
    post(plural('Validating'), configuration('Validating', 'code', conditions('1 + 1'))),
    post(plural('Validating'), configuration('Validating', 'code', conditions('unknown.field'))),
    post(plural('Validating'), configuration('Validating', 'code', conditions('request.missing == ""'))),
    post(plural('Validating'), configuration('Validating', 'code', conditions(''))),
    post(
      plural('Validating'),
      configuration('Validating', 'code', {
        matchConditions: [
          { name: 'same', expression: 'true' },
          { name: 'same', expression: 'true' },
          { name: 'not a name', expression: 'true' },
          { name: '', expression: 'true' },
        ],
      }),
    ),
    post(plural('Validating'), configuration('Validating', 'code', { sideEffects: 'Some' })),
    post(plural('Validating'), configuration('Validating', 'code', { admissionReviewVersions: ['v0'] })),
    post(plural('Validating'), configuration('Validating', 'code', { admissionReviewVersions: [] })),
    post(plural('Validating'), configuration('Validating', 'code', { name: 'short' })),
    post(plural('Validating'), configuration('Validating', 'code', { timeoutSeconds: 31 })),
    post(plural('Validating'), configuration('Validating', 'code', { failurePolicy: 'Maybe', matchPolicy: 'Odd' })),
    post(plural('Validating'), configuration('Validating', 'code', { clientConfig: {} })),
    post(plural('Validating'), configuration('Validating', 'code', { clientConfig: { url: 'http://x.example.com' } })),
    post(
      plural('Validating'),
      configuration('Validating', 'code', {
        rules: [
          { operations: ['READ', '*'], apiGroups: [], apiVersions: ['*', 'v1'], resources: ['*', 'pods', 'a/b/c'] },
        ],
      }),
    ),
    get(`${plural('Validating')}/<ns>`),
  ),
];

// More access control: aggregated roles, rules reviews, impersonated extras, bound tokens.
import { configMap, core, del, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/clusterroles`;
const auth = '/apis/authorization.k8s.io/v1';
const role = (name: string, more: object): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: `<ns>-${name}`, labels: { [`<ns>-${name}`]: 'yes' } },
  ...more,
});
const rule = (resource: string, ...verbs: readonly string[]): object => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
});
const rulesReview = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectRulesReview',
  spec: { namespace: '<ns>' },
};
const tokenOf = (spec: object): object => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
const token = core('serviceaccounts', 'default', 'token');

export const moreAccess = [
  scenario(
    'aggregated roles',
    post(
      roles,
      role('sum', {
        aggregationRule: {
          clusterRoleSelectors: [{ matchLabels: { '<ns>-one': 'yes' } }, { matchLabels: { '<ns>-two': 'yes' } }],
        },
        rules: [rule('pods', 'get')],
      }),
      { only: ['kind', 'aggregationRule'] },
    ),
    post(roles, role('one', { rules: [rule('configmaps', 'get', 'list')] }), { only: ['rules'] }),
    get(`${roles}/<ns>-sum`, { until: { path: 'rules[0].resources[0]', is: 'configmaps' }, only: ['rules'] }),
    post(roles, role('two', { rules: [rule('secrets', 'get'), rule('configmaps', 'get', 'list')] }), {
      only: ['rules'],
    }),
    get(`${roles}/<ns>-sum`, { until: { path: 'rules[1].resources[0]', is: 'secrets' }, only: ['rules'] }),
    del(`${roles}/<ns>-one`, undefined, { only: ['status'] }),
    get(`${roles}/<ns>-sum`, { until: { path: 'rules[0].resources[0]', is: 'secrets' }, only: ['rules'] }),
    patch('merge', `${roles}/<ns>-sum`, { rules: [] }, { only: ['kind'] }),
    get(`${roles}/<ns>-sum`, { until: { path: 'rules[0].resources[0]', is: 'secrets' }, only: ['rules'] }),
    del(`${roles}/<ns>-two`, undefined, { only: ['status'] }),
    get(`${roles}/<ns>-sum`, { until: { path: 'rules', is: null }, only: ['rules', 'aggregationRule'] }),
    del(`${roles}/<ns>-sum`, undefined, { only: ['status'] }),
  ),
  scenario(
    'rules reviews',
    post(
      inGroup('rbac.authorization.k8s.io/v1', 'roles'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r' },
        rules: [rule('pods', 'get', 'list'), { ...rule('secrets', 'get'), resourceNames: ['s'] }],
      },
      { only: ['kind'] },
    ),
    post(
      inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'r' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [{ kind: 'User', name: '<ns>-ann', apiGroup: 'rbac.authorization.k8s.io' }],
      },
      { only: ['kind'] },
    ),
    get(core('pods'), { as: '<ns>-ann', until: { code: 200 }, only: ['kind'] }),
    post(`${auth}/selfsubjectrulesreviews`, rulesReview, { as: '<ns>-ann', only: ['kind', 'status.incomplete'] }),
    post(`${auth}/selfsubjectrulesreviews`, { ...rulesReview, spec: {} }, { as: '<ns>-ann' }),
    get(core('secrets', 's'), { as: '<ns>-ann' }),
    get(core('secrets', 'other'), { as: '<ns>-ann' }),
    get(core('secrets'), { as: '<ns>-ann' }),
    del(core('pods'), undefined, { as: '<ns>-ann' }),
  ),
  scenario(
    'impersonated extras',
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      {
        as: 'ann',
        groups: ['devs'],
        headers: {
          'impersonate-extra-scopes': 'a',
          'impersonate-extra-acme.com%2Fproject': 'x',
          'impersonate-uid': '7',
        },
        only: ['status'],
      },
    ),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'system:serviceaccount:<ns>:default', only: ['status'] },
    ),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'system:anonymous', only: ['status'] },
    ),
    get(core('pods'), { headers: { 'impersonate-uid': '7' }, only: ['code', 'reason'] }),
    get(core('pods'), { headers: { 'impersonate-extra-scopes': 'a' }, only: ['code', 'reason'] }),
    get(core('pods'), { as: 'jane', headers: { 'impersonate-extra-scopes': 'a' } }),
  ),
  scenario(
    'bound tokens',
    post(core('pods'), pod('p'), { keep: { uid: 'metadata.uid' }, only: ['kind'] }),
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, { only: ['kind'] }),
    post(token, tokenOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }), {
      only: ['spec.boundObjectRef', 'spec.expirationSeconds'],
    }),
    post(token, tokenOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: '<uid>' } }), {
      keep: { token: 'status.token' },
      only: ['kind'],
    }),
    post(token, tokenOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'other' } })),
    post(token, tokenOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'missing' } })),
    post(token, tokenOf({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }), {
      only: ['spec.boundObjectRef.kind'],
    }),
    post(token, tokenOf({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 's' } })),
    post(token, tokenOf({ expirationSeconds: 5 })),
    post(token, tokenOf({ expirationSeconds: 2 ** 33 })),
    post(token, tokenOf({ audiences: ['a', 'b'] }), { only: ['spec.audiences'] }),
    post(core('serviceaccounts', 'missing', 'token'), tokenOf({})),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '<token>' } },
      {
        only: [
          'status.authenticated',
          'status.user.username',
          'status.user.groups',
          'status.user.extra["authentication.kubernetes.io/pod-name"]',
        ],
      },
    ),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '<token>' } },
      {
        until: { path: 'status.authenticated', is: undefined },
        only: ['status.authenticated'],
      },
    ),
  ),
  scenario(
    'messages about missing permissions',
    post(
      inGroup('rbac.authorization.k8s.io/v1', 'roles'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'granter' },
        rules: [
          {
            apiGroups: ['rbac.authorization.k8s.io'],
            resources: ['roles', 'rolebindings'],
            verbs: ['create', 'update'],
          },
          rule('pods', 'get'),
        ],
      },
      { only: ['kind'] },
    ),
    post(
      inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'granter' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'granter' },
        subjects: [{ kind: 'User', name: '<ns>-bob', apiGroup: 'rbac.authorization.k8s.io' }],
      },
      { only: ['kind'] },
    ),
    get(core('pods', 'x'), { as: '<ns>-bob', until: { code: 404 }, only: ['code'] }),
    post(
      inGroup('rbac.authorization.k8s.io/v1', 'roles'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'more' },
        rules: [
          rule('pods', 'get', 'list', 'watch'),
          { apiGroups: ['apps', ''], resources: ['deployments', 'secrets'], verbs: ['get'] },
          { ...rule('configmaps', 'get'), resourceNames: ['a', 'b'] },
        ],
      },
      { as: '<ns>-bob' },
    ),
    put(
      inGroup('rbac.authorization.k8s.io/v1', 'roles', 'granter'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'granter' },
        rules: [rule('pods', 'get'), rule('nodes', '*')],
      },
      { as: '<ns>-bob' },
    ),
  ),
  scenario(
    'namespaces with finalizers of their own',
    post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: '<ns>-f', finalizers: ['example.com/hold'] },
      spec: { finalizers: ['example.com/own'] },
    }),
    del('/api/v1/namespaces/<ns>-f', undefined, { only: ['status.phase', 'spec'] }),
    get('/api/v1/namespaces/<ns>-f', {
      until: { path: 'spec.finalizers', is: ['example.com/own'] },
      only: ['spec', 'metadata.finalizers', 'status.phase'],
    }),
    put(
      '/api/v1/namespaces/<ns>-f/finalize',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '<ns>-f' }, spec: { finalizers: [] } },
      { only: ['spec', 'metadata.finalizers'] },
    ),
    get('/api/v1/namespaces/<ns>-f', { only: ['spec', 'metadata.finalizers'] }),
    post('/api/v1/namespaces/<ns>-f/configmaps', configMap('late', {})),
    patch('merge', '/api/v1/namespaces/<ns>-f', { metadata: { finalizers: [] } }, { only: ['kind'] }),
    get('/api/v1/namespaces/<ns>-f', { until: { code: 404 } }),
  ),
];

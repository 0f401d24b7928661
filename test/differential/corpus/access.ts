// Access control: roles, impersonation, access reviews, service accounts and their tokens.
import { apply, configMap, core, del, get, inGroup, patch, post, scenario, watch } from '../scenario.ts';
import type { Step } from '../scenario.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const role = (name: string, rules: readonly object[]): Step =>
  post(inGroup(rbac, 'roles'), { apiVersion: rbac, kind: 'Role', metadata: { name }, rules });
const bind = (name: string, subject: object, kind = 'Role'): Step =>
  post(inGroup(rbac, 'rolebindings'), {
    apiVersion: rbac,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [subject],
  });
const jane = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' };
const as = 'jane';
const review = (kind: string, spec: object): object => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec });
const reviews = '/apis/authorization.k8s.io/v1';

export const access = [
  scenario(
    'a user without roles is refused',
    get(core('configmaps'), { as }),
    get(core('configmaps', 'a'), { as }),
    post(core('configmaps'), configMap('a', {}), { as }),
    patch('merge', core('configmaps', 'a'), {}, { as }),
    del(core('configmaps', 'a'), undefined, { as }),
    del(core('configmaps'), undefined, { as }),
    { ...watch(core('configmaps'), 1), as },
    get('/api/v1/nodes', { as }),
    get('/api/v1/namespaces', { as }),
    get('/api/v1/namespaces/<ns>', { as }),
    get(inGroup('apps/v1', 'deployments', 'd', 'scale'), { as }),
    get('/metrics', { as }),
    get('/api', { as, groups: ['system:authenticated'], only: ['kind'] }),
    get('/version', { as, groups: ['system:authenticated'], only: ['major'] }),
    get(core('configmaps'), { as: 'system:anonymous' }),
    get(core('configmaps'), { as: 'system:serviceaccount:<ns>:default' }),
  ),
  scenario(
    'roles grant their rules',
    role('reader', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]),
    bind('reader', jane),
    post(core('configmaps'), configMap('a', {}), { only: ['kind'] }),
    get(core('configmaps', 'a'), { as, until: { code: 200 }, only: ['metadata.name'] }),
    get(core('configmaps'), { as, only: ['kind'] }),
    post(core('configmaps'), configMap('b', {}), { as }),
    del(core('configmaps', 'a'), undefined, { as }),
    get(core('secrets'), { as }),
    get('/api/v1/configmaps', { as }),
  ),
  scenario(
    'applying a missing object requires permission to create it',
    role('patcher', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] }]),
    bind('patcher', jane),
    post(core('configmaps'), configMap('a', {}), { only: ['kind'] }),
    get(core('configmaps', 'a'), { as, until: { code: 200 }, only: ['kind'] }),
    apply('one', core('configmaps', 'a'), configMap('a', { k: 'v' }), { as, only: ['data'] }),
    apply('one', core('configmaps', 'b'), configMap('b', { k: 'v' }), { as }),
    patch('merge', core('configmaps', 'b'), {}, { as }),
  ),
  scenario(
    'roles by name and by subresource',
    role('named', [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get', 'update', 'patch'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['*'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    ]),
    bind('named', { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team' }),
    post(core('configmaps'), configMap('a', {}), { as, groups: ['team'], until: { code: 201 }, only: ['kind'] }),
    get(core('configmaps', 'a'), { as, groups: ['team'], only: ['kind'] }),
    get(core('configmaps', 'b'), { as, groups: ['team'] }),
    get(core('configmaps'), { as, groups: ['team'] }),
    get(core('configmaps'), { as, groups: ['team'], query: { fieldSelector: 'metadata.name=a' } }),
    get(inGroup('apps/v1', 'deployments', 'd', 'scale'), { as, groups: ['team'] }),
    get(inGroup('apps/v1', 'deployments', 'd'), { as, groups: ['team'] }),
    get(core('configmaps', 'a'), { as }),
  ),
  scenario(
    'users cannot grant permissions that they do not hold',
    role('granter', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*'] }]),
    bind('granter', jane),
    get(inGroup(rbac, 'roles'), { as, until: { code: 200 }, only: ['kind'] }),
    { ...role('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]), as },
    { ...bind('admin', jane, 'ClusterRole'), as },
    { ...role('same', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['get'] }]), as },
  ),
  scenario(
    'impersonation',
    get(core('configmaps'), { as: 'jane', groups: ['system:masters'], only: ['kind'] }),
    get(core('configmaps'), { groups: ['system:masters'] }),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'jane', groups: ['a', 'b'] },
    ),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'jane', headers: { 'impersonate-uid': '42', 'impersonate-extra-scope': 'x' } },
    ),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'system:serviceaccount:<ns>:default' },
    ),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { as: 'system:anonymous', only: ['message', 'reason', 'code'] },
    ),
  ),
  scenario(
    'access reviews',
    role('reader', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]),
    bind('reader', jane),
    get(core('pods', 'x'), { as, until: { code: 404 } }),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'pods' } }),
      { as, groups: ['system:authenticated'] },
    ),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', {
        resourceAttributes: { namespace: '<ns>', verb: 'delete', resource: 'pods' },
      }),
      { as, groups: ['system:authenticated'] },
    ),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { nonResourceAttributes: { path: '/version', verb: 'get' } }),
      { as, groups: ['system:authenticated'] },
    ),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
    ),
    post(`${reviews}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', {})),
    post(
      `${reviews}/subjectaccessreviews`,
      review('SubjectAccessReview', {
        user: 'jane',
        resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'pods' },
      }),
    ),
    post(
      `${reviews}/subjectaccessreviews`,
      review('SubjectAccessReview', {
        user: 'joe',
        groups: ['x'],
        resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'pods' },
      }),
    ),
    post(
      `${reviews}/subjectaccessreviews`,
      review('SubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
    ),
    post(`${reviews}/subjectaccessreviews`, review('SubjectAccessReview', { user: 'jane' })),
    post(
      inGroup('authorization.k8s.io/v1', 'localsubjectaccessreviews'),
      review('LocalSubjectAccessReview', {
        user: 'jane',
        resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'pods' },
      }),
    ),
    post(
      inGroup('authorization.k8s.io/v1', 'localsubjectaccessreviews'),
      review('LocalSubjectAccessReview', {
        user: 'jane',
        resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' },
      }),
    ),
    post(`${reviews}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: '<ns>' }), {
      as,
      groups: ['system:authenticated'],
      only: ['kind', 'status.resourceRules[resources=pods]', 'status.incomplete'],
    }),
  ),
  scenario(
    'service accounts and their tokens',
    post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot' } }),
    post(
      core('serviceaccounts', 'bot', 'token'),
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
      { keep: { token: 'status.token' } },
    ),
    post(core('serviceaccounts', 'bot', 'token'), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 5 },
    }),
    post(
      core('serviceaccounts', 'bot', 'token'),
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['elsewhere'] } },
      { keep: { foreign: 'status.token' } },
    ),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '<token>' } },
      {
        only: [
          'kind',
          'apiVersion',
          'status.authenticated',
          'status.user.username',
          'status.user.groups',
          'status.audiences',
        ],
      },
    ),
    post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: 'nonsense' },
    }),
    post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: {},
    }),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '<foreign>' } },
      { only: ['status.authenticated'] },
    ),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: '<foreign>', audiences: ['elsewhere'] },
      },
      { only: ['status.authenticated', 'status.audiences'] },
    ),
    post(core('serviceaccounts', 'missing', 'token'), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    }),
    del(core('serviceaccounts', 'bot'), undefined, { only: ['kind'] }),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '<token>' } },
      { until: { path: 'status.error' }, only: ['status.authenticated'] },
    ),
  ),
];

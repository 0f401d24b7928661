// Certificate signing requests. No controller signs for this signer name, so that no controller changes them.
import { del, get, patch, post, put, scenario, tableType } from '../scenario.ts';
import type { Scenario, Step } from '../scenario.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const one = `${requests}/<ns>`;

/** Generated with `openssl req -new -newkey ec -subj /O=team/CN=jane`. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHZMIGAAgEAMB4xDTALBgNVBAoMBHRlYW0xDTALBgNVBAMMBGphbmUwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAASHxhb+u8Gjc/MlVW9rqKWC1Mr+SpSNG6sH3s+h
g/3wsutnVR55eNJ1JRl6LWYMquaOBHTEd2oNajQYxmnrtTBVoAAwCgYIKoZIzj0E
AwIDSAAwRQIhALOkDMEmfULSa5ZhzbElhYmUTzzo4Bp4X2FZeKfZmyKKAiB9J9bH
K4bSubS/6h+aSfPTu9eYxd2XAKptu6YtFZaxLQ==
-----END CERTIFICATE REQUEST-----
`;

function request(spec: object = {}, more: object = {}): object {
  const defaults = {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'example.com/team',
    usages: ['client auth'],
  };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: '<ns>' },
    spec: { ...defaults, ...spec },
    ...more,
  };
}

const condition = (type: string, status = 'True'): object => ({ type, status, reason: 'Because' });
const withConditions = (...conditions: readonly object[]): object => request({}, { status: { conditions } });
const jane = { as: 'jane', groups: ['system:masters'] };
const approve = (body: object): Step => put(`${one}/approval`, body, { without: ['metadata.managedFields'] });

const rbac = 'rbac.authorization.k8s.io';
const roles = `/apis/${rbac}/v1/clusterroles`;
const bindings = `/apis/${rbac}/v1/clusterrolebindings`;
const role = (
  name: string,
  verbs: readonly string[],
  resources: readonly string[],
  names?: readonly string[],
): object => ({
  metadata: { name },
  rules: [
    { apiGroups: ['certificates.k8s.io'], resources, verbs, ...(names !== undefined && { resourceNames: names }) },
  ],
});
const binding = (name: string): object => ({
  metadata: { name },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
  subjects: [{ apiGroup: rbac, kind: 'User', name: '<ns>-jane' }],
});

export const certificates: readonly Scenario[] = [
  scenario(
    'a certificate signing request and its approval',
    post(
      requests,
      request({ username: 'somebody else', groups: ['admins'] }, { status: { conditions: [condition('Approved')] } }),
      jane,
    ),
    get(one),
    get(requests, {
      accept: tableType,
      query: { fieldSelector: 'metadata.name=<ns>' },
      only: ['kind', 'rows[*].cells'],
    }),
    get(requests, { query: { fieldSelector: 'spec.signerName=example.com/none' }, only: ['items'] }),
    put(one, request({ usages: ['server auth'] }), { only: ['spec.usages', 'status'] }),
    put(`${one}/status`, withConditions(condition('Approved'))),
    put(`${one}/status`, withConditions(condition('Odd', 'False')), { only: ['status.conditions[0].type'] }),
    approve(withConditions(condition('Approved', 'False'))),
    approve(withConditions(condition('Approved'), condition('Denied'))),
    approve(withConditions(condition('Approved'))),
    get(`${one}/approval`, { only: ['status.conditions[*].type'] }),
    approve(withConditions()),
    patch('merge', `${one}/approval`, { status: { conditions: [] } }),
    get(requests, {
      accept: tableType,
      query: { fieldSelector: 'metadata.name=<ns>' },
      only: ['kind', 'rows[*].cells'],
    }),
    del(one),
  ),
  scenario(
    'permissions to approve and to sign',
    post(requests, request(), { only: ['kind'] }),
    post(
      roles,
      role(
        '<ns>-write',
        ['update', 'patch'],
        ['approval', 'status'].map((part) => `certificatesigningrequests/${part}`),
      ),
    ),
    post(bindings, binding('<ns>-write'), { only: ['kind'] }),
    // A patch that does not change the signer's fields is allowed as soon as the role is in effect.
    patch(
      'merge',
      `${one}/status`,
      { metadata: { labels: { c: 'd' } } },
      { as: '<ns>-jane', until: { code: 200 }, only: ['kind'] },
    ),
    put(`${one}/approval`, withConditions(condition('Approved')), { as: '<ns>-jane' }),
    put(`${one}/status`, withConditions(condition('Odd')), { as: '<ns>-jane' }),
    put(`${one}/status`, request(), { as: '<ns>-jane', only: ['kind', 'message'] }),
    patch(
      'merge',
      `${one}/status`,
      { metadata: { labels: { a: 'b' } } },
      { as: '<ns>-jane', only: ['kind', 'message'] },
    ),
    post(roles, role('<ns>-approve', ['approve'], ['signers'], ['example.com/team']), { only: ['kind'] }),
    post(bindings, binding('<ns>-approve'), { only: ['kind'] }),
    put(`${one}/approval`, withConditions(condition('Approved')), {
      as: '<ns>-jane',
      until: { code: 200 },
      only: ['status.conditions[*].type'],
    }),
    put(`${one}/status`, withConditions(condition('Approved'), condition('Odd')), { as: '<ns>-jane' }),
    post(roles, role('<ns>-sign', ['sign'], ['signers'], ['example.com/*']), { only: ['kind'] }),
    post(bindings, binding('<ns>-sign'), { only: ['kind'] }),
    put(`${one}/status`, withConditions(condition('Approved'), condition('Odd')), {
      as: '<ns>-jane',
      until: { code: 200 },
      only: ['status.conditions[*].type'],
    }),
    ...['write', 'approve', 'sign'].flatMap((name) => [
      del(`${bindings}/<ns>-${name}`, undefined, { only: ['kind'] }),
      del(`${roles}/<ns>-${name}`, undefined, { only: ['kind'] }),
    ]),
    del(one),
  ),
  scenario(
    'invalid certificate signing requests',
    ...[
      { request: Buffer.from('nothing').toString('base64') },
      { signerName: 'kubernetes.io/legacy-unknown' },
      { signerName: '' },
      { usages: [] },
      { usages: ['odd'] },
      { usages: ['client auth', 'client auth'] },
      { expirationSeconds: 5 },
    ].map((spec) => post(requests, request(spec), { only: ['code', 'message'] })),
  ),
];

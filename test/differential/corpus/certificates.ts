// Certificate signing requests. No controller signs for the name that is used here, so nobody else writes to them.
import { del, get, patch, post, put, scenario, tableType } from '../scenario.ts';
import type { Scenario, Step } from '../scenario.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const one = `${requests}/<ns>`;

/** Made with `openssl req -new -newkey ec -subj /O=team/CN=jane`; its key is not kept. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHZMIGAAgEAMB4xDTALBgNVBAoMBHRlYW0xDTALBgNVBAMMBGphbmUwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAASHxhb+u8Gjc/MlVW9rqKWC1Mr+SpSNG6sH3s+h
g/3wsutnVR55eNJ1JRl6LWYMquaOBHTEd2oNajQYxmnrtTBVoAAwCgYIKoZIzj0E
AwIDSAAwRQIhALOkDMEmfULSa5ZhzbElhYmUTzzo4Bp4X2FZeKfZmyKKAiB9J9bH
K4bSubS/6h+aSfPTu9eYxd2XAKptu6YtFZaxLQ==
-----END CERTIFICATE REQUEST-----
`;

function request(spec: object = {}, more: object = {}): object {
  const wanted = {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'example.com/team',
    usages: ['client auth'],
  };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: '<ns>' },
    spec: { ...wanted, ...spec },
    ...more,
  };
}

const condition = (type: string, status = 'True'): object => ({ type, status, reason: 'Because' });
const withConditions = (...conditions: readonly object[]): object => request({}, { status: { conditions } });
const jane = { as: 'jane', groups: ['system:masters'] };
const approve = (body: object): Step => put(`${one}/approval`, body, { without: ['metadata.managedFields'] });

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
    'certificate signing requests that are refused',
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

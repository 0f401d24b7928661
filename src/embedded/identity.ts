// The identity of a cluster: its certificate authority, its token signing key and the administrator's token. Kept in
// the data directory, so that kubeconfigs stay valid across restarts.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, loadAuthority } from '../kube/pki.ts';
import type { Authority, CertificatePair } from '../kube/pki.ts';

export interface Identity {
  readonly authority: Authority;
  readonly tokenKeyPem: string;
  readonly adminToken: string;
}

const days = 3650;

/** Loads the identity from a data directory, or creates it at the first start. Without a directory, it is new. */
export function clusterIdentity(directory: string | undefined): Identity {
  if (directory === undefined) return newIdentity();
  const file = (name: string): string => join(directory, name);
  if (!existsSync(file('ca.crt'))) return save(newIdentity(), file);
  const certPem = readFileSync(file('ca.crt'), 'utf8');
  const keyPem = readFileSync(file('ca.key'), 'utf8');
  return {
    authority: loadAuthority({ certPem, keyPem }),
    tokenKeyPem: readFileSync(file('tokens.key'), 'utf8'),
    adminToken: readFileSync(file('admin.token'), 'utf8').trim(),
  };
}

function newIdentity(): Identity {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    authority: createAuthority({ commonName: 'offshoot-embedded', days }),
    tokenKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    adminToken: randomBytes(32).toString('base64url'),
  };
}

/** Writes the certificate last: if it exists, all files exist. */
function save(identity: Identity, file: (name: string) => string): Identity {
  const secret = { mode: 0o600 };
  writeFileSync(file('ca.key'), identity.authority.keyPem, secret);
  writeFileSync(file('tokens.key'), identity.tokenKeyPem, secret);
  writeFileSync(file('admin.token'), `${identity.adminToken}\n`, secret);
  writeFileSync(file('ca.crt'), identity.authority.certPem);
  return identity;
}

/** Issues the serving certificate. */
export function servingCertificate(authority: Authority, host: string): CertificatePair {
  const isAddress = /^[\d.]+$|:/.test(host);
  return authority.issue({
    commonName: 'kube-apiserver',
    dnsNames: [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
      ...(isAddress ? [] : [host]),
    ],
    ipAddresses: [...new Set(['127.0.0.1', '::1', '10.96.0.1', ...(isAddress ? [host] : [])])],
    days,
    usage: 'server',
  });
}

/** Issues the administrator's client certificate. */
export function adminCertificate(authority: Authority): CertificatePair {
  return authority.issue({ commonName: 'kubernetes-admin', organizations: ['system:masters'], days, usage: 'client' });
}

/** A kubeconfig with a client certificate, as YAML. */
export function kubeconfigText(url: string, caPem: string, client: CertificatePair): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: offshoot
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caPem)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(client.certPem)}
    client-key-data: ${base64(client.keyPem)}
contexts:
- name: offshoot
  context:
    cluster: offshoot
    user: admin
current-context: offshoot
`;
}

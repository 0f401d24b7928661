// Writes the certificates, keys and kubeconfig files of a test control plane. `real.ts` calls it first.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { createAuthority } from '../../src/kube/pki.ts';
import type { CertificatePair, CertificateRequest } from '../../src/kube/pki.ts';

/** Users with a client certificate and a kubeconfig file. Kubernetes' own roles are bound to these groups. */
const users = {
  admin: { commonName: 'admin', organizations: ['system:masters'] },
  'controller-manager': { commonName: 'system:kube-controller-manager' },
  scheduler: { commonName: 'system:kube-scheduler' },
  kubelet: { commonName: 'system:node:node-1', organizations: ['system:nodes'] },
  'kube-proxy': { commonName: 'system:kube-proxy' },
} as const;

export interface Credentials {
  readonly caPem: string;
  readonly admin: CertificatePair;
  /** The admin's kubeconfig as text; `file('admin.kubeconfig')` holds the same. */
  readonly kubeconfig: string;
  /** The path of `ca.crt`, `NAME.crt|key` of `serving`, `front-proxy`, `kubelet-serving` and each user,
   * `service-account.key|pub`, `USER.kubeconfig`. */
  readonly file: (name: string) => string;
}

/** Writes new files into `dir`, readable only by the owner. The server certificate is valid for `addresses` too. */
export function writeCredentials(dir: string, serverUrl: string, addresses: readonly string[] = []): Credentials {
  mkdirSync(dir, { recursive: true });
  const file = (name: string): string => path.join(dir, name);
  const write = (name: string, text: string): void => writeFileSync(file(name), text, { mode: 0o600 });

  const authority = createAuthority({ commonName: 'offshoot-test', days: 2 });
  const issue = (request: Omit<CertificateRequest, 'days'>): CertificatePair =>
    authority.issue({ ...request, days: 1 });
  const writePair = (name: string, pair: CertificatePair): void => {
    write(`${name}.crt`, pair.certPem);
    write(`${name}.key`, pair.keyPem);
  };
  write('ca.crt', authority.certPem);
  writePair(
    'serving',
    issue({
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1', '10.0.0.1', ...addresses],
      usage: 'server',
    }),
  );
  writePair('kubelet-serving', issue({ commonName: 'node-1', ipAddresses: [...addresses], usage: 'server' }));
  writePair('front-proxy', issue({ commonName: 'front-proxy', usage: 'client' }));

  // Kubernetes signs service account tokens with RS256, so this pair is RSA.
  const tokens = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write('service-account.key', tokens.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  write('service-account.pub', tokens.publicKey.export({ type: 'spki', format: 'pem' }).toString());

  const pairs = new Map(Object.entries(users).map(([name, user]) => [name, issue({ ...user, usage: 'client' })]));
  for (const [name, pair] of pairs) {
    writePair(name, pair);
    write(`${name}.kubeconfig`, kubeconfigText(serverUrl, authority.certPem, name, pair));
  }
  const admin = pairs.get('admin')!;
  return {
    caPem: authority.certPem,
    admin,
    kubeconfig: kubeconfigText(serverUrl, authority.certPem, 'admin', admin),
    file,
  };
}

function kubeconfigText(server: string, caPem: string, user: string, pair: CertificatePair): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(pair.certPem), 'client-key-data': base64(pair.keyPem) },
      },
    ],
  });
}

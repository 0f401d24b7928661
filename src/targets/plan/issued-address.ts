// The address at which users of targets reach the cluster, from the credentials that were issued last. Otherwise only
// the control plane knows it; a plan with another address would find all credentials stale.
import type { ClusterAddress, Tables } from '../../kube/index.ts';
import { TOKEN_ISSUED } from '../../kube/index.ts';
import { isIssuedFor } from '../credentials.ts';
import { Secret } from '../objects.ts';

interface Kubeconfig {
  readonly clusters?: readonly {
    readonly cluster?: {
      readonly server?: string;
      readonly 'certificate-authority-data'?: string;
      readonly 'insecure-skip-tls-verify'?: boolean;
    };
  }[];
}

/** The address in the newest credentials that we issued; undefined if there are none. */
export async function issuedAddress(tables: Tables): Promise<ClusterAddress | undefined> {
  const issuedAt = ({ metadata }: Secret): string => metadata.annotations?.[TOKEN_ISSUED] ?? '';
  const issued = [...tables.of(Secret).list()].filter((secret) => issuedAt(secret) !== '');
  const newestFirst = issued.sort((a, b) => (issuedAt(a) > issuedAt(b) ? -1 : 1));
  const { parse } = await import('../../kube/yaml.ts');
  for (const secret of newestFirst) {
    const text = Buffer.from(secret.data?.['kubeconfig'] ?? '', 'base64').toString();
    const address = addressIn(orUndefined(() => parse(text) as Kubeconfig | null));
    // The Secret may have been changed since.
    if (address !== undefined && isIssuedFor(secret, address)) return address;
  }
  return undefined;
}

function addressIn(kubeconfig: Kubeconfig | null | undefined): ClusterAddress | undefined {
  const { cluster } = kubeconfig?.clusters?.[0] ?? {};
  if (cluster?.server === undefined) return undefined;
  const { 'certificate-authority-data': ca, 'insecure-skip-tls-verify': isInsecure } = cluster;
  return {
    server: cluster.server,
    ...(ca !== undefined && { caPem: Buffer.from(ca, 'base64').toString() }),
    ...(isInsecure && { insecureSkipTlsVerify: true }),
  };
}

function orUndefined<R>(read: () => R): R | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

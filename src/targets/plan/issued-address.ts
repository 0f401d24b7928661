// How users of targets reach the cluster, by the credentials that were issued last. Only the control plane that issues
// them knows it otherwise; whoever plans for it must not take its address for another, nor its credentials for stale.
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

/** The address in the newest credentials of ours; undefined where there are none. */
export async function issuedAddress(tables: Tables): Promise<ClusterAddress | undefined> {
  const issuedAt = ({ metadata }: Secret): string => metadata.annotations?.[TOKEN_ISSUED] ?? '';
  const issued = [...tables.of(Secret).list()].filter((secret) => issuedAt(secret) !== '');
  const newestFirst = issued.sort((a, b) => (issuedAt(a) > issuedAt(b) ? -1 : 1));
  const { parse } = await import('../../kube/yaml.ts');
  for (const secret of newestFirst) {
    const text = Buffer.from(secret.data?.['kubeconfig'] ?? '', 'base64').toString();
    const address = addressIn(readable(() => parse(text) as Kubeconfig | null));
    // Somebody may have changed it since.
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

function readable<R>(read: () => R): R | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

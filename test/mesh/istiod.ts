// The command line of an istiod that only serves discovery (xDS): no certificate authority, no webhooks.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';

/** The namespace of the mesh itself. */
export const ROOT_NAMESPACE = 'istio-system';

export const XDS_PORT = 15_010;
const DEBUG_PORT = 15_080;

export interface IstiodOptions {
  readonly dir: string;
  readonly address: string;
  /** The URL of its API server. */
  readonly server: string;
  /** How long it waits for further changes before it pushes to the proxies; its default is 100ms. */
  readonly debounce?: string;
}

/** The arguments and environment variables of pilot-discovery; writes the files that they name. */
export function istiodCommand({ dir, address, server, debounce }: IstiodOptions): {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
} {
  const [kubeconfig, meshConfig] = [path.join(dir, 'istiod.kubeconfig'), path.join(dir, 'mesh.yaml')];
  writeFileSync(kubeconfig, stringify(kubeconfigOf(server)));
  // No mTLS and telemetry: they need filters that only Istio's own Envoy has.
  writeFileSync(
    meshConfig,
    stringify({
      enableAutoMtls: false,
      enableTracing: false,
      enablePrometheusMerge: false,
      rootNamespace: ROOT_NAMESPACE,
    }),
  );
  return {
    args: [
      'discovery',
      `--kubeconfig=${kubeconfig}`,
      `--meshConfig=${meshConfig}`,
      `--grpcAddr=${address}:${XDS_PORT}`,
      `--httpAddr=${address}:${DEBUG_PORT}`,
      `--monitoringAddr=${address}:15014`,
      `--ctrlz_address=${address}`,
      '--httpsAddr=',
      '--secureGRPCAddr=',
    ],
    env: {
      PILOT_ENABLE_METADATA_EXCHANGE: 'false',
      PILOT_ENABLE_ALPN_FILTER: 'false',
      ENABLE_CA_SERVER: 'false',
      PILOT_CERT_PROVIDER: 'none',
      VALIDATION_WEBHOOK_CONFIG_NAME: '',
      INJECTION_WEBHOOK_CONFIG_NAME: '',
      ENABLE_DEBUG_ENDPOINT_AUTH: 'false',
      POD_NAME: 'istiod',
      POD_NAMESPACE: ROOT_NAMESPACE,
      ...(debounce !== undefined && { PILOT_DEBOUNCE_AFTER: debounce }),
    },
  };
}

function kubeconfigOf(server: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'mesh',
    contexts: [{ name: 'mesh', context: { cluster: 'mesh', user: 'mesh' } }],
    clusters: [{ name: 'mesh', cluster: { server } }],
    users: [{ name: 'mesh', user: {} }],
  };
}

/** Whether the istiod at an address serves proxies. */
export async function isReady(address: string): Promise<boolean> {
  try {
    return (await fetch(`http://${address}:${DEBUG_PORT}/ready`)).ok;
  } catch {
    return false;
  }
}

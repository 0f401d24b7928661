// The configuration of a process that runs in a pod. Called by kubeconfig.ts when there is no kubeconfig.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectConfig } from './config.ts';

const defaultDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Where the service account is mounted. */
  readonly directory?: string;
}

/** How a pod reaches the API server, or undefined outside a cluster. The token is read again whenever it is renewed. */
export function inClusterConfig(options: InClusterOptions = {}): ConnectConfig | undefined {
  const { env = process.env, directory = defaultDirectory } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  const tokenFile = join(directory, 'token');
  if (!host || !port || !existsSync(tokenFile)) return undefined;
  const namespace = readIfExists(join(directory, 'namespace'))?.trim();
  const caPem = readIfExists(join(directory, 'ca.crt'));
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tokenFile,
    ...(namespace ? { namespace } : {}),
    ...(caPem === undefined ? {} : { caPem }),
  };
}

function readIfExists(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

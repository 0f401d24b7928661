// Hints about the cluster and user of the kubeconfig. Loaded if a command needs no cluster, or if the cluster rejects
// us.
import path from 'node:path';
import { inClusterConfig } from '../../kube/client/config/in-cluster.ts';
import { readKubeconfig } from '../../kube/client/config/kubeconfig.ts';
import type { LoadOptions } from '../../kube/client/config/kubeconfig.ts';
import { ApiError } from '../../kube/errors.ts';
import { failure } from '../exit.ts';
import { kubeconfigSource } from '../kubeconfig/source.ts';
import type { ClusterOptions } from '../options.ts';
import { kubeconfigOfUp, UP_CONTEXT } from '../up/location.ts';

/** The current namespace, without contacting the cluster. */
export function namespaceWithoutCluster(options: ClusterOptions, env: NodeJS.ProcessEnv = process.env): string {
  if (options.namespace !== undefined) return options.namespace;
  const source = kubeconfigSource(options, env);
  const kubeconfig = readKubeconfig(source);
  const context = kubeconfig.contexts.get(source.context ?? kubeconfig.currentContext ?? '');
  const ofPod = kubeconfig.files.length === 0 ? inClusterConfig({ env })?.namespace : undefined;
  return context?.string('namespace') || ofPod || 'default';
}

/** Adds to an error which user was rejected by which server, or that `up` does not run. */
export function withClusterHint(error: unknown, server: string, options: Omit<ClusterOptions, 'namespace'>): unknown {
  if (!(error instanceof ApiError)) return error;
  const source = kubeconfigSource(options);
  if (error.reason === 'ConnectionRefused') {
    const file = writtenByUp(source);
    if (file === undefined) return error;
    return failure(
      'ConnectionRefused',
      `nobody answers at ${server}, where "offshoot up" ran last (${file}): start it again`,
    );
  }
  if (error.code !== 401) return error;
  const message = error.status?.message || error.reason;
  return failure('Unauthorized', `${message}: ${server} does not accept ${credentialsText(source)}`);
}

/** The kubeconfig file, if the selected cluster is one of `up`, by the name of its context. */
function writtenByUp(source: LoadOptions): string | undefined {
  if (source.path === kubeconfigOfUp()) return source.path;
  const { files, contexts, currentContext } = readKubeconfig(source);
  const context = source.context ?? currentContext ?? '';
  const isOfUp = context === UP_CONTEXT || contexts.get(context)?.string('cluster') === UP_CONTEXT;
  return isOfUp ? files.join(path.delimiter) : undefined;
}

function credentialsText(source: LoadOptions): string {
  const { files, contexts, currentContext } = readKubeconfig(source);
  if (files.length === 0) return 'the token of the service account of this pod';
  const context = source.context ?? currentContext ?? '';
  const user = contexts.get(context)?.string('user');
  const where = `context "${context}" of ${files.join(', ')}`;
  if (!user) return `requests without a user, and ${where} names none`;
  return `the credentials of user "${user}" (${where}): get new ones, or choose another --context`;
}

// Who we are to which cluster, in words. Loaded when a command needs no cluster, or when one refuses us.
import { inClusterConfig } from '../../kube/client/config/in-cluster.ts';
import { readKubeconfig } from '../../kube/client/config/kubeconfig.ts';
import type { KubeconfigOptions } from '../../kube/client/config/kubeconfig.ts';
import { ApiError } from '../../kube/errors.ts';
import { failure } from '../exit.ts';
import type { ClusterOptions } from '../options.ts';

/** The namespace to work in, whether or not there is a cluster. */
export function namespaceWithoutCluster(options: ClusterOptions, env: NodeJS.ProcessEnv = process.env): string {
  if (options.namespace !== undefined) return options.namespace;
  const kubeconfig = readKubeconfig(sourceOf(options, env));
  const context = kubeconfig.contexts.get(options.context ?? kubeconfig.currentContext ?? '');
  const ofPod = kubeconfig.files.length === 0 ? inClusterConfig({ env })?.namespace : undefined;
  return context?.string('namespace') || ofPod || 'default';
}

/** An error that says who was refused where, if the server did not accept our credentials; any other as it is. */
export function withCredentialsHint(
  error: unknown,
  server: string,
  options: Omit<ClusterOptions, 'namespace'>,
): unknown {
  if (!(error instanceof ApiError) || error.code !== 401) return error;
  const said = error.status?.message || error.reason;
  return failure(`${said}: ${server} does not accept ${whoIs(options)}`);
}

function whoIs(options: Omit<ClusterOptions, 'namespace'>): string {
  const { files, contexts, currentContext } = readKubeconfig(sourceOf(options, process.env));
  if (files.length === 0) return 'the token of the service account of this pod';
  const context = options.context ?? currentContext ?? '';
  const user = contexts.get(context)?.string('user');
  const where = `context "${context}" of ${files.join(', ')}`;
  if (!user) return `requests without a user, and ${where} names none`;
  return `the credentials of user "${user}" (${where}): get new ones, or choose another --context`;
}

function sourceOf({ kubeconfig }: ClusterOptions, env: NodeJS.ProcessEnv): KubeconfigOptions {
  return { env, ...(kubeconfig !== undefined && { path: kubeconfig }) };
}

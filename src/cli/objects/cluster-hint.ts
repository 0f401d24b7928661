// Who we are to which cluster, in words. Loaded when a command needs no cluster, or when one refuses us.
import path from 'node:path';
import { inClusterConfig } from '../../kube/client/config/in-cluster.ts';
import { readKubeconfig } from '../../kube/client/config/kubeconfig.ts';
import type { LoadOptions } from '../../kube/client/config/kubeconfig.ts';
import { ApiError } from '../../kube/errors.ts';
import { failure } from '../exit.ts';
import { kubeconfigSource } from '../kubeconfig/source.ts';
import type { ClusterOptions } from '../options.ts';
import { kubeconfigOfUp, UP_CONTEXT } from '../up/location.ts';

/** The namespace to work in, whether or not there is a cluster. */
export function namespaceWithoutCluster(options: ClusterOptions, env: NodeJS.ProcessEnv = process.env): string {
  if (options.namespace !== undefined) return options.namespace;
  const source = kubeconfigSource(options, env);
  const kubeconfig = readKubeconfig(source);
  const context = kubeconfig.contexts.get(source.context ?? kubeconfig.currentContext ?? '');
  const ofPod = kubeconfig.files.length === 0 ? inClusterConfig({ env })?.namespace : undefined;
  return context?.string('namespace') || ofPod || 'default';
}

/** An error that says who was refused where, or that `up` does not run; any other as it is. */
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
  const said = error.status?.message || error.reason;
  return failure('Unauthorized', `${said}: ${server} does not accept ${whoIs(source)}`);
}

/** The kubeconfig, if the cluster that is meant is one of `up`: it names contexts like no other, and is on loopback. */
function writtenByUp(source: LoadOptions): string | undefined {
  if (source.path === kubeconfigOfUp()) return source.path;
  const { files, contexts, currentContext } = readKubeconfig(source);
  const context = source.context ?? currentContext ?? '';
  const isOfUp = context === UP_CONTEXT || contexts.get(context)?.string('cluster') === UP_CONTEXT;
  return isOfUp ? files.join(path.delimiter) : undefined;
}

function whoIs(source: LoadOptions): string {
  const { files, contexts, currentContext } = readKubeconfig(source);
  if (files.length === 0) return 'the token of the service account of this pod';
  const context = source.context ?? currentContext ?? '';
  const user = contexts.get(context)?.string('user');
  const where = `context "${context}" of ${files.join(', ')}`;
  if (!user) return `requests without a user, and ${where} names none`;
  return `the credentials of user "${user}" (${where}): get new ones, or choose another --context`;
}
